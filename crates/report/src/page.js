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
  function at(event) { return event.target.closest ? event.target.closest('[data-edge]') : null; }
  [['mouseover', true], ['mouseout', false], ['focusin', true], ['focusout', false]].forEach(function (pair) {
    document.addEventListener(pair[0], function (event) {
      var element = at(event);
      if (element) { mark(element, pair[1]); }
    });
  });
  document.addEventListener('keydown', function (event) {
    var element = at(event);
    if (element) { walk(element, event); }
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
  function number(element) { return Number(element.getAttribute('data-edge').split('-').pop()); }

  // A picture wider than the page starts where the cycle starts, and says that there is more to the sides.
  function fit(frame) {
    var isWide = frame.scrollWidth > frame.clientWidth + 1, hint = frame.nextElementSibling;
    if (!hint || hint.className !== 'hint') {
      if (!isWide) { return; }
      hint = document.createElement('p');
      hint.className = 'hint';
      hint.textContent = '↔ wider than the page: scroll it sideways, or focus it and use the arrow keys';
      frame.parentNode.insertBefore(hint, frame.nextSibling);
    }
    hint.hidden = !isWide;
    frame.classList.toggle('more-left', frame.scrollLeft > 1);
    frame.classList.toggle('more-right', frame.scrollWidth - frame.clientWidth - frame.scrollLeft > 1);
  }
  function fitAll() { each(document.querySelectorAll('.frame,.scroll'), fit); }
  each(document.querySelectorAll('.frame,.scroll'), function (frame) {
    var left = Infinity;
    each(frame.querySelectorAll('.cell.hit'), function (cell) {
      left = Math.min(left, cell.getBoundingClientRect().left - frame.getBoundingClientRect().left);
    });
    if (isFinite(left)) { frame.scrollLeft = left - 40; }
    frame.addEventListener('scroll', function () { fit(frame); });
  });
  window.addEventListener('resize', fitAll);
  window.addEventListener('load', fitAll);
  document.addEventListener('toggle', fitAll, true);
  document.addEventListener('change', fitAll);
  fitAll();

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
