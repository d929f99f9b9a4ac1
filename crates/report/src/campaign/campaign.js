(function () {
  'use strict';
  function all(selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); }
  function make(name, parent, attributes) {
    var element = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.keys(attributes).forEach(function (key) { element.setAttribute(key, attributes[key]); });
    parent.appendChild(element);
    return element;
  }
  function add(parent, name, words, className) {
    var element = document.createElement(name);
    if (words !== undefined) { element.textContent = words; }
    if (className) { element.className = className; }
    parent.appendChild(element);
    return element;
  }
  function data(element, name) { return element.getAttribute('data-' + name) || ''; }
  function isShown(element) { return element.getClientRects().length > 0; }

  // What went wrong is at the end of what was printed.
  function scrollOutput(root) {
    all('.output pre', root).forEach(function (printed) { printed.scrollTop = printed.scrollHeight; });
  }

  // The arrows of one run. An arrow leaves a statement, runs up or down between two lanes, and enters the other
  // statement. Its label stands on the straight end beside the lane that is further right, where no arrow runs up or
  // down; rows hold one statement each, so that no other arrow ends there.
  function wiring(root, lanes, statements) {
    var HEAD = 18, LABEL = 46, TRACK = 12, SLOT = 26;
    var svg = make('svg', lanes, { 'class': 'picture wires', role: 'group', 'aria-label': 'the cycle' });
    var id = 'head' + data(root.querySelector('.steps [data-edge]') || root, 'edge');
    var marker = make('marker', make('defs', svg, {}), {
      id: id, 'class': 'head main', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 13, markerHeight: 13,
      markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse'
    });
    make('path', marker, { d: 'M0 0L10 5L0 10z' });
    var wires = all('.steps [data-from]', root).map(function (step, index) {
      var from = document.getElementById(data(step, 'from')), to = document.getElementById(data(step, 'to'));
      if (!from || !to) { return null; }
      var group = make('g', svg, {
        'class': 'arrow main ' + data(step, 'kind'), 'data-edge': data(step, 'edge'), tabindex: '0', role: 'img',
        'aria-label': step.textContent
      });
      var wire = { from: from, to: to, group: group };
      wire.reach = make('path', group, { 'class': 'reach' });
      wire.halo = make('path', group, { 'class': 'halo' });
      wire.line = make('path', group, { 'class': 'line', 'marker-end': 'url(#' + id + ')' });
      wire.plate = make('rect', group, { 'class': 'plate', rx: 9, width: LABEL, height: 18 });
      wire.text = make('text', group, { 'text-anchor': 'middle' });
      wire.text.textContent = (index + 1) + ' ' + data(step, 'kind').slice(0, 2);
      return wire;
    }).filter(Boolean);

    // The place of a statement's lane among those that are shown.
    function lane(element) {
      var own = data(element, 'lane');
      return all('.client', lanes).filter(isShown).map(function (client) { return data(client, 'lane'); }).indexOf(own);
    }
    function box(element, base) {
      var rect = element.getBoundingClientRect();
      return {
        left: rect.left - base.left, right: rect.right - base.left, top: rect.top - base.top,
        height: rect.height
      };
    }
    // How many arrows end at a side of a statement, and which of them comes next.
    function places(shown) {
      var counts = {}, taken = {};
      shown.forEach(function (wire) {
        [wire.start, wire.end].forEach(function (key) { counts[key] = (counts[key] || 0) + 1; });
      });
      return {
        counts: counts,
        next: function (key) { taken[key] = (taken[key] || 0) + 1; return taken[key] / (counts[key] + 1); }
      };
    }

    function draw() {
      if (!isShown(svg)) { return; }
      var shown = wires.filter(function (wire) {
        var is = isShown(wire.from) ? isShown(wire.to) : false;
        wire.group.style.display = is ? '' : 'none';
        return is;
      });
      shown.forEach(function (wire) {
        var a = lane(wire.from), b = lane(wire.to);
        wire.isLoop = a === b;
        wire.toRight = wire.isLoop ? true : b > a;
        wire.start = wire.from.id + (wire.toRight ? 'r' : 'l');
        wire.end = wire.to.id + (wire.isLoop ? 'r' : wire.toRight ? 'l' : 'r');
        wire.gutter = wire.isLoop ? a : wire.toRight ? b - 1 : b;
      });
      var ends = places(shown);
      // A statement is high enough for the labels beside it.
      shown.forEach(function (wire) {
        [[wire.from, wire.start], [wire.to, wire.end]].forEach(function (pair) {
          pair[0].style.minHeight = ((ends.counts[pair[1]] + 1) * SLOT) + 'px';
        });
      });
      var base = lanes.getBoundingClientRect();
      svg.setAttribute('width', base.width);
      svg.setAttribute('height', base.height);
      shown.forEach(function (wire) {
        var a = box(wire.from, base), b = box(wire.to, base);
        wire.startX = wire.toRight ? a.right : a.left;
        wire.endX = wire.isLoop ? b.right : wire.toRight ? b.left : b.right;
        wire.startY = a.top + a.height * ends.next(wire.start);
        wire.endY = b.top + b.height * ends.next(wire.end);
        wire.edge = wire.isLoop ? Math.max(a.right, b.right) : wire.toRight ? b.left : b.right;
      });
      tracks(shown);
      shown.forEach(function (wire) {
        var path = route(wire.startX, wire.startY, wire.x, wire.endX, wire.endY);
        [wire.line, wire.reach, wire.halo].forEach(function (part) { part.setAttribute('d', path); });
        var left = wire.isLoop ? wire.startX + 8 : (wire.toRight ? wire.endX : wire.startX) - HEAD - LABEL;
        var y = wire.isLoop ? wire.startY : wire.toRight ? wire.endY : wire.startY;
        wire.plate.setAttribute('x', left);
        wire.plate.setAttribute('y', y - 9);
        wire.text.setAttribute('x', left + LABEL / 2);
        wire.text.setAttribute('y', y + 4);
      });
    }

    // Arrows between two lanes run in tracks of their own, in an order with few crossings.
    function tracks(shown) {
      var gap = parseFloat(getComputedStyle(lanes).columnGap) || 0, gutters = {};
      // Statements are a little narrower than their lanes.
      var margin = shown.length ? 2 * parseFloat(getComputedStyle(shown[0].from).marginLeft) : 0;
      shown.forEach(function (wire) { (gutters[wire.gutter] = gutters[wire.gutter] || []).push(wire); });
      Object.keys(gutters).forEach(function (gutter) {
        var list = gutters[gutter], isBetter = true, i, swap;
        while (isBetter) {
          isBetter = false;
          for (i = 1; list.length > i; i += 1) {
            if (crossings(list[i - 1], list[i]) > crossings(list[i], list[i - 1])) {
              swap = list[i]; list[i] = list[i - 1]; list[i - 1] = swap;
              isBetter = true;
            }
          }
        }
        var hasLoop = list.some(function (wire) { return wire.isLoop; });
        list.forEach(function (wire, place) {
          var left = wire.isLoop ? wire.edge : wire.toRight ? wire.edge - gap - margin : wire.edge;
          wire.x = left + HEAD + (hasLoop ? LABEL : 4) + TRACK * place;
        });
      });
    }
    function spans(wire, y) { return y > Math.min(wire.startY, wire.endY) ? Math.max(wire.startY, wire.endY) > y : false; }
    function lefts(wire) { return wire.isLoop ? [wire.startY, wire.endY] : [wire.toRight ? wire.startY : wire.endY]; }
    function rights(wire) { return wire.isLoop ? [] : [wire.toRight ? wire.endY : wire.startY]; }
    function crossings(left, right) {
      return lefts(right).filter(function (y) { return spans(left, y); }).length +
        rights(left).filter(function (y) { return spans(right, y); }).length;
    }
    function route(startX, startY, x, endX, endY) {
      var down = endY > startY ? 1 : -1;
      var r = Math.min(8, Math.abs(endY - startY) / 2);
      var out = x > startX ? 1 : -1, back = endX > x ? 1 : -1;
      return 'M' + startX + ' ' + startY + 'L' + (x - out * r) + ' ' + startY +
        'Q' + x + ' ' + startY + ' ' + x + ' ' + (startY + down * r) +
        'L' + x + ' ' + (endY - down * r) +
        'Q' + x + ' ' + endY + ' ' + (x + back * r) + ' ' + endY + 'L' + endX + ' ' + endY;
    }

    lanes.classList.toggle('loops', wires.some(function (wire) { return data(wire.from, 'lane') === data(wire.to, 'lane'); }));
    return {
      draw: draw,
      // Arrows from or to statements that are still to come are faint.
      reach: function (isPast) {
        wires.forEach(function (wire) {
          wire.group.classList.toggle('later', isPast(wire.from) ? !isPast(wire.to) : true);
        });
      }
    };
  }

  // Steps through a run: which statements have taken effect, and what each client has seen so far.
  function player(root, lanes, statements, wires) {
    var bar = root.querySelector('.player'), seen = root.querySelector('.seen');
    var range = bar.querySelector('input'), words = bar.querySelector('output');
    var only = root.querySelector('.only'), frame = lanes.parentNode;
    var steps = statements, isMoved = false;

    function shown() {
      steps = only ? only.checked ? statements.filter(function (one) { return !one.classList.contains('aside'); }) : statements : statements;
      var atEnd = !isMoved;
      range.max = steps.length;
      if (atEnd) { range.value = steps.length; }
      show(false);
    }
    function show(isStep) {
      var count = Number(range.value), past = steps.slice(0, count), now = isMoved ? past[count - 1] : null;
      var last = now ? statements.indexOf(now) : count === 0 ? -1 : statements.length - 1;
      function isPast(one) { return last >= statements.indexOf(one); }
      statements.forEach(function (one) {
        one.classList.toggle('later', !isPast(one));
        one.classList.toggle('now', one === now);
      });
      wires.reach(isPast);
      var heading = !isMoved ? 'all ' + steps.length + ' statements' :
        count === 0 ? 'before the first statement' :
          count + ' of ' + steps.length + ': ' + now.getAttribute('aria-label');
      words.textContent = heading;
      range.setAttribute('aria-valuetext', heading);
      fill(seen, statements.slice(0, last + 1), statements, steps, now);
      if (isStep ? now : false) { bring(now); }
    }
    // Scrolls the frame alone, so that the slider stays where it is.
    function bring(now) {
      var inner = now.getBoundingClientRect(), outer = frame.getBoundingClientRect();
      var height = Math.max(200, Math.min(outer.bottom, window.innerHeight) - outer.top);
      frame.scrollTop += inner.top - outer.top - height * 0.35;
      if (outer.left > inner.left) { frame.scrollLeft += inner.left - outer.left - 16; }
      if (inner.right > outer.right) { frame.scrollLeft += inner.right - outer.right + 16; }
    }
    function move(by) {
      isMoved = true;
      range.value = Number(range.value) + by;
      show(true);
    }
    bar.hidden = false;
    seen.hidden = false;
    range.addEventListener('input', function () { move(0); });
    bar.querySelector('.back').addEventListener('click', function () { move(-1); });
    bar.querySelector('.on').addEventListener('click', function () { move(1); });
    if (only) { only.addEventListener('change', shown); }
    shown();
  }

  // What a client has read or written, newest value per cell, beside what is committed now.
  function fill(table, past, statements, steps, now) {
    var clients = {}, order = [], committed = {}, guilty = {};
    statements.forEach(function (one) {
      var client = data(one, 'client');
      if (!clients[client]) { clients[client] = { state: 'has not begun', cells: {}, own: {} }; }
      all('.ops .guilty', one).forEach(function (op) { guilty[data(op, 'key')] = true; });
    });
    steps.forEach(function (one) { if (order.indexOf(data(one, 'client')) === -1) { order.push(data(one, 'client')); } });
    order.sort(function (a, b) { return a - b; });
    past.forEach(function (one) {
      var client = clients[data(one, 'client')], txn = data(one, 'txn'), end = data(one, 'end');
      client.state = txn ? 'in ' + txn : 'outside of a transaction';
      all('.ops li', one).forEach(function (op) {
        var key = data(op, 'key'), verb = data(op, 'verb'), value = data(op, 'value');
        var isWrite = ['read', 'found', 'found no'].indexOf(verb) === -1;
        var words = value || { found: 'there', 'found no': 'not there', inserted: 'there', deleted: 'gone', made: 'there', removed: 'gone' }[verb] || '';
        var isOld = op.classList.contains('stale') || Boolean(op.querySelector('strong'));
        client.cells[key] = { words: words, hasValue: value !== '', isWrite: isWrite, isNew: one === now };
        // A read that is not old, and not of its own write, shows what is committed.
        if (isWrite) { client.own[key] = words; } else if (isOld ? false : client.own[key] === undefined) { committed[key] = words; }
      });
      if (data(one, 'waited')) { client.state += ', waited for client ' + data(one, 'waited'); }
      if (end === 'commit') { Object.keys(client.own).forEach(function (key) { committed[key] = client.own[key]; }); }
      if (end) {
        client.own = {};
        client.state = txn + (end === 'commit' ? ' committed' : ' rolled back');
      }
    });
    function keys(cells) {
      // That a row is there is worth a word only where the explanation points at it.
      var list = Object.keys(cells).filter(function (key) { return cells[key].hasValue ? true : guilty[key]; });
      list.sort(function (a, b) { return Number(guilty[b] || 0) - Number(guilty[a] || 0); });
      return list;
    }
    table.textContent = '';
    var grid = add(table, 'table');
    add(grid, 'caption', now ? 'What each client has seen so far' : past.length ? 'What each client has seen in the end' : 'What each client has seen before the first statement');
    var head = add(add(grid, 'thead'), 'tr');
    ['client', 'state', 'has seen'].forEach(function (words) { add(head, 'th', words).scope = 'col'; });
    var body = add(grid, 'tbody'), MOST = 6;
    order.forEach(function (name) {
      var client = clients[name], row = add(body, 'tr', undefined, now ? data(now, 'client') === name ? 'now' : '' : '');
      add(row, 'th', 'client ' + name).scope = 'row';
      add(row, 'td', client.state);
      var cell = add(row, 'td'), list = keys(client.cells);
      if (!list.length) { cell.textContent = 'nothing'; }
      list.slice(0, MOST).forEach(function (key) {
        var one = client.cells[key];
        var chip = add(cell, 'span', undefined, 'chip' + (guilty[key] ? ' guilty' : '') + (one.isNew ? ' new' : ''));
        add(chip, 'code', key + ' = ' + one.words);
        if (one.isWrite) { add(chip, 'i', client.own[key] !== undefined ? 'wrote, not committed' : 'wrote'); }
        if (committed[key] !== undefined ? client.own[key] === undefined ? committed[key] !== one.words : false : false) {
          add(chip, 'i', 'now ' + committed[key]);
          chip.classList.add('old');
        }
      });
      if (list.length > MOST) { add(cell, 'span', 'and ' + (list.length - MOST) + ' more', 'more'); }
    });
    var current = body.querySelector('.now');
    table.scrollTop = current ? Math.max(0, current.offsetTop - table.clientHeight / 2) : 0;
  }

  function setUp(root) {
    if (root.getAttribute('data-ready')) { return; }
    root.setAttribute('data-ready', 'yes');
    scrollOutput(root);
    var lanes = root.querySelector('.lanes');
    if (!lanes) { return; }
    var statements = all('.statement', lanes);
    // Arrow keys move from statement to statement, in time.
    statements.forEach(function (statement) {
      statement.addEventListener('keydown', function (event) {
        var step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step || event.target !== statement) { return; }
        var shown = statements.filter(isShown);
        var next = shown[shown.indexOf(statement) + step];
        if (!next) { return; }
        event.preventDefault();
        next.focus();
      });
    });
    var wires = wiring(root, lanes, statements);
    root.draw = wires.draw;
    player(root, lanes, statements, wires);
    wires.draw();
  }
  function drawAll() { all('.violation[data-ready]').forEach(function (root) { if (root.draw) { root.draw(); } }); }

  all('.violation').forEach(function (root) {
    if (root.tagName !== 'DETAILS') { setUp(root); }
  });
  document.addEventListener('toggle', function (event) {
    var target = event.target;
    if (target.classList.contains('failure') ? target.open : false) { setUp(target); }
    drawAll();
  }, true);
  window.addEventListener('resize', drawAll);
  window.addEventListener('load', drawAll);
  document.addEventListener('change', drawAll);

  // A link to something within a folded failure unfolds it.
  function unfold() {
    var target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    var failure = target ? target.closest('details.failure') : null;
    if (failure ? !failure.open : false) {
      failure.open = true;
      setUp(failure);
      target.scrollIntoView();
    }
  }
  window.addEventListener('hashchange', unfold);
  unfold();

  // Failing runs by words and by cause.
  all('.failures').forEach(function (section) {
    var bar = section.querySelector('.filters'), find = bar.querySelector('input[type=search]');
    var words = bar.querySelector('output'), failures = all('.failure', section);
    function plain(text) { return text.toLowerCase().split(/\s+/).join(' ').trim(); }
    var texts = failures.map(function (failure) { return plain(failure.textContent); });
    function filter() {
      var wanted = plain(find.value), cause = bar.querySelector('input[name=cause]:checked');
      var number = cause ? cause.value : '', count = 0;
      failures.forEach(function (failure, at) {
        var is = texts[at].indexOf(wanted) !== -1;
        if (number !== '') { is = is ? data(failure.parentNode, 'cause') === number : false; }
        failure.hidden = !is;
        count += is ? 1 : 0;
      });
      all('.cause', section).forEach(function (group) {
        group.hidden = all('.failure', group).every(function (failure) { return failure.hidden; });
      });
      section.querySelector('.nothing').hidden = count > 0;
      words.textContent = count === failures.length ? count + (count === 1 ? ' failing run' : ' failing runs') : count + ' of ' + failures.length + ' failing runs';
    }
    bar.hidden = false;
    find.addEventListener('input', filter);
    bar.addEventListener('change', filter);
    filter();
  });
}());
