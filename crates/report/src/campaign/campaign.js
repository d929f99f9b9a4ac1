(function () {
  'use strict';
  function all(selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); }
  function make(name, parent, attributes) {
    var element = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.keys(attributes).forEach(function (key) { element.setAttribute(key, attributes[key]); });
    parent.appendChild(element);
    return element;
  }
  // What went wrong is at the end of what was printed.
  all('.output pre').forEach(function (printed) { printed.scrollTop = printed.scrollHeight; });

  var lanes = document.querySelector('.lanes');
  if (!lanes) { return; }
  var statements = all('.statement', lanes);

  // Arrow keys move from statement to statement, in time.
  statements.forEach(function (statement) {
    statement.addEventListener('keydown', function (event) {
      var step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target !== statement) { return; }
      var shown = statements.filter(function (one) { return one.offsetParent; });
      var next = shown[shown.indexOf(statement) + step];
      if (!next) { return; }
      event.preventDefault();
      next.focus();
    });
  });

  var svg = make('svg', lanes, { 'class': 'picture wires', role: 'group', 'aria-label': 'the cycle' });
  var marker = make('marker', make('defs', svg, {}), {
    id: 'head', 'class': 'head main', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 13, markerHeight: 13,
    markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse'
  });
  make('path', marker, { d: 'M0 0L10 5L0 10z' });
  var wires = all('.steps [data-from]').map(function (step, index) {
    var from = document.getElementById(step.getAttribute('data-from'));
    var to = document.getElementById(step.getAttribute('data-to'));
    if (!from || !to) { return null; }
    var group = make('g', svg, {
      'class': 'arrow main ' + step.getAttribute('data-kind'), 'data-edge': step.getAttribute('data-edge'),
      tabindex: '0', role: 'img', 'aria-label': step.textContent
    });
    var reach = make('path', group, { 'class': 'reach' });
    var line = make('path', group, { 'class': 'line', 'marker-end': 'url(#head)' });
    var plate = make('rect', group, { 'class': 'plate', rx: 4 });
    var text = make('text', group, {});
    text.textContent = (index + 1) + ' ' + step.getAttribute('data-label');
    return { from: from, to: to, group: group, reach: reach, line: line, plate: plate, text: text };
  }).filter(Boolean);

  function lane(element) { return Number(element.getAttribute('data-lane')); }

  function box(element, base) {
    var rect = element.getBoundingClientRect();
    return { left: rect.left - base.left, right: rect.right - base.left, top: rect.top - base.top, bottom: rect.bottom - base.top };
  }

  // Whether two rectangles are closer than a little.
  function meet(a, b) {
    return Math.max(a.left, b.left) - Math.min(a.right, b.right) > 3 ? false
      : Math.max(a.top, b.top) - Math.min(a.bottom, b.bottom) > 3 ? false : true;
  }

  // The places of several ends at one side of a statement, or of several lines between two lanes.
  function places() {
    var counts = {}, taken = {};
    return {
      add: function (key) { counts[key] = (counts[key] || 0) + 1; },
      next: function (key) { taken[key] = (taken[key] || 0) + 1; return taken[key] / (counts[key] + 1); }
    };
  }

  // Along the row of the first statement, where other lanes are empty; down or up between lanes; then to the second one.
  function draw() {
    var base = lanes.getBoundingClientRect();
    svg.setAttribute('width', base.width);
    svg.setAttribute('height', base.height);
    var gap = parseFloat(getComputedStyle(lanes).columnGap) || 0;
    var shown = wires.filter(function (wire) {
      var is = Boolean(wire.from.offsetParent) === true ? Boolean(wire.to.offsetParent) : false;
      wire.group.style.display = is ? '' : 'none';
      return is;
    });
    var ends = places(), tracks = places();
    shown.forEach(function (wire) {
      var a = lane(wire.from), b = lane(wire.to);
      wire.isLoop = a === b;
      wire.toRight = b - a > 0 ? true : wire.isLoop;
      wire.start = wire.from.id + (wire.toRight ? 'r' : 'l');
      wire.end = wire.to.id + (wire.isLoop ? 'r' : wire.toRight ? 'l' : 'r');
      wire.track = wire.isLoop ? a : wire.toRight ? b - 1 : b;
      ends.add(wire.start);
      ends.add(wire.end);
      tracks.add(wire.track);
    });
    var blocks = statements.filter(function (one) { return one.offsetParent; }).map(function (one) { return box(one, base); });
    shown.forEach(function (wire) {
      var a = box(wire.from, base), b = box(wire.to, base);
      var startX = wire.toRight ? a.right : a.left;
      var endX = wire.isLoop ? b.right : wire.toRight ? b.left : b.right;
      var startY = a.top + (a.bottom - a.top) * ends.next(wire.start);
      var endY = b.top + (b.bottom - b.top) * ends.next(wire.end);
      var room = wire.isLoop ? Math.min(gap, 110) : gap;
      var share = tracks.next(wire.track) * room;
      wire.x = wire.isLoop ? Math.max(a.right, b.right) + share : wire.toRight ? endX - room + share : endX + share;
      wire.startY = startY;
      wire.endY = endY;
      wire.parts = [
        span(startX, startY, wire.x, startY), span(wire.x, startY, wire.x, endY), span(wire.x, endY, endX, endY)
      ];
      var path = route(startX, startY, wire.x, endX, endY);
      wire.line.setAttribute('d', path);
      wire.reach.setAttribute('d', path);
    });
    var plates = [];
    shown.forEach(function (wire) {
      var others = [];
      shown.forEach(function (other) { if (other !== wire) { others = others.concat(other.parts); } });
      label(wire, [blocks, others, plates], plates);
    });
  }

  function span(x, y, toX, toY) {
    return { left: Math.min(x, toX), right: Math.max(x, toX), top: Math.min(y, toY), bottom: Math.max(y, toY) };
  }

  function route(startX, startY, x, endX, endY) {
    var down = endY > startY ? 1 : -1;
    var r = Math.min(10, Math.abs(endY - startY) / 2);
    var out = x > startX ? 1 : -1, back = endX > x ? 1 : -1;
    return 'M' + startX + ' ' + startY + 'L' + (x - out * r) + ' ' + startY +
      'Q' + x + ' ' + startY + ' ' + x + ' ' + (startY + down * r) +
      'L' + x + ' ' + (endY - down * r) +
      'Q' + x + ' ' + endY + ' ' + (x + back * r) + ' ' + endY + 'L' + endX + ' ' + endY;
  }

  // The label stands on its line, where it covers no statement, no other line and no other label; or as few as it can.
  function label(wire, kinds, plates) {
    var size = wire.text.getBBox(), width = size.width + 10, height = size.height + 4, best = null, least = Infinity;
    [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9].forEach(function (part) {
      [0.5, 0.3, 0.7, 0.1, 0.9].forEach(function (shift) {
        var left = wire.x - width * shift, top = wire.startY + (wire.endY - wire.startY) * part - height / 2;
        var plate = { left: left, right: left + width, top: top, bottom: top + height };
        var cost = kinds.reduce(function (sum, kind) {
          return sum + kind.filter(function (other) { return meet(plate, other); }).length;
        }, 0);
        if (least > cost) { least = cost; best = plate; }
      });
    });
    plates.push(best);
    wire.plate.setAttribute('x', best.left);
    wire.plate.setAttribute('y', best.top);
    wire.plate.setAttribute('width', width);
    wire.plate.setAttribute('height', height);
    wire.text.setAttribute('x', best.left + 5);
    wire.text.setAttribute('y', best.bottom - 6);
  }

  lanes.classList.toggle('loops', wires.some(function (wire) { return lane(wire.from) === lane(wire.to); }));
  draw();
  window.addEventListener('resize', draw);
  window.addEventListener('load', draw);
  document.addEventListener('toggle', draw, true);
  document.addEventListener('change', draw);
}());
