(function () {
  'use strict';
  function each(list, action) { Array.prototype.forEach.call(list, action); }

  // An arrow and its sentence carry the same data-edge: pointing at one marks both.
  function mark(element, on) {
    var name = element.getAttribute('data-edge');
    each(document.querySelectorAll('[data-edge="' + name + '"]'), function (other) {
      other.classList.toggle('on', on);
    });
  }
  each(document.querySelectorAll('[data-edge]'), function (element) {
    element.addEventListener('mouseenter', function () { mark(element, true); });
    element.addEventListener('mouseleave', function () { mark(element, false); });
    element.addEventListener('focus', function () { mark(element, true); });
    element.addEventListener('blur', function () { mark(element, false); });
    element.addEventListener('keydown', function (event) { walk(element, event); });
  });

  // Arrow keys walk round the cycle, in the picture or in the list, wherever the focus is.
  function walk(element, event) {
    var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.target !== element || !element.hasAttribute('tabindex')) { return; }
    var list = Array.prototype.slice.call(element.parentNode.querySelectorAll('[data-edge][tabindex]'));
    list.sort(function (a, b) { return number(a) - number(b); });
    var next = list[(list.indexOf(element) + step + list.length) % list.length];
    event.preventDefault();
    next.focus();
  }
  function number(element) { return Number(element.getAttribute('data-edge').split('-')[1]); }

  // A picture wider than the page starts where the cycle starts.
  each(document.querySelectorAll('.frame'), function (frame) {
    var left = Infinity;
    each(frame.querySelectorAll('.cell.hit'), function (cell) {
      left = Math.min(left, cell.getBoundingClientRect().left - frame.getBoundingClientRect().left);
    });
    if (isFinite(left)) { frame.scrollLeft = left - 40; }
  });

  each(document.querySelectorAll('.command'), function (command) {
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'copy';
    button.addEventListener('click', function () {
      var range = document.createRange();
      range.selectNodeContents(command);
      var selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      function done() { button.textContent = 'copied'; }
      if (navigator.clipboard) {
        navigator.clipboard.writeText(command.textContent).then(done, function () {});
      } else if (document.execCommand('copy')) {
        done();
      }
    });
    command.parentNode.appendChild(button);
  });
}());
