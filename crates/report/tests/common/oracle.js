(function () {
  var faults = [];
  function list(found) { return Array.prototype.slice.call(found); }
  function meet(a, b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }
  function rect(element) { return element.getBoundingClientRect(); }
  function isShown(element) { return element.getClientRects().length > 0; }
  function along(line, base, visit) {
    for (var at = 3, end = line.getTotalLength() - 3; at < end; at += 3) {
      var point = line.getPointAtLength(at);
      if (visit(point.x + base.left, point.y + base.top)) { return true; }
    }
    return false;
  }
  function inside(box, x, y) { return x > box.left + 2 && x < box.right - 2 && y > box.top + 2 && y < box.bottom - 2; }

  list(document.querySelectorAll('.failure')).slice(0, 3).forEach(function (failure) { failure.open = true; });
  window.dispatchEvent(new Event('resize'));
  list(document.querySelectorAll('.wires')).filter(isShown).forEach(function (svg) {
    var base = rect(svg);
    var arrows = list(svg.querySelectorAll('.arrow')).filter(isShown);
    if (arrows.length !== list(svg.closest('.violation').querySelectorAll('.steps [data-from]')).length) { faults.push('an arrow is missing'); }
    var statements = list(svg.parentNode.querySelectorAll('.statement')).filter(isShown).map(rect);
    var labels = arrows.map(function (arrow) { return rect(arrow.querySelector('.plate')); });
    arrows.forEach(function (arrow, at) {
      var line = arrow.querySelector('.line'), text = rect(arrow.querySelector('text'));
      if (statements.some(function (box) { return meet(labels[at], box); })) { faults.push('a label covers a statement'); }
      if (labels.some(function (label, other) { return other > at && meet(labels[at], label); })) { faults.push('labels overlap'); }
      if (text.left < labels[at].left || text.right > labels[at].right) { faults.push('a text leaves its label'); }
      if (along(line, base, function (x, y) {
        return statements.some(function (box) { return inside(box, x, y); });
      })) { faults.push('an arrow runs through a statement'); }
      if (along(line, base, function (x, y) {
        return labels.some(function (label, other) { return other !== at && inside(label, x, y); });
      })) { faults.push('a label covers an arrow'); }
    });
  });
  list(document.querySelectorAll('h1,h2,h3,p,li,dd,td,code,summary,label,output')).forEach(function (element) {
    if (element.closest('.frame,.scroll,.seen,.skip,pre') || !isShown(element)) { return; }
    if (rect(element).right > document.documentElement.clientWidth + 1) { faults.push(element.textContent.slice(0, 40) + ' leaves the page'); }
  });
  return faults.join('; ');
}())
