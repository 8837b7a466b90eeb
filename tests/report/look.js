// Runs inside a report, given by test_pages.py: what is wrong with how it looks, as a list of texts.
(() => {
  const wrong = [];
  const root = document.documentElement;
  if (root.scrollWidth > window.innerWidth) {
    const wide = Array.from(document.querySelectorAll("body *")).filter((e) => {
      const box = e.getBoundingClientRect();
      return box.width > 0 && box.right > window.innerWidth + 0.5 && !e.closest(".scroll");
    });
    wrong.push(`the page is ${root.scrollWidth} wide, the window ${window.innerWidth}: ` +
      wide.slice(0, 3).map((e) => `${e.tagName}.${e.getAttribute("class")}`).join(" "));
  }

  // Contrast by WCAG 2: relative luminance of the text against what is painted behind it.
  const parse = (text) => {
    const m = text.match(/^rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:[,/ ]+([\d.]+))?\)$/);
    if (!m) throw new Error(`colour ${text}`);
    return [Number(m[1]), Number(m[2]), Number(m[3]), m[4] === undefined ? 1 : Number(m[4])];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    let colour = [255, 255, 255, 1];
    for (const layer of layers.reverse()) colour = over(layer, colour);
    return colour;
  };
  const luminance = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const seen = new Set();
  let texts = 0;
  const judge = (text, front, back, element) => {
    ++texts;
    const r = ratio(over(front, back), back);
    if (r >= 4.5) return;
    const line = `contrast ${r.toFixed(2)}: "${text.trim().slice(0, 30)}" in ${element.tagName}.${element.getAttribute("class")}`;
    if (!seen.has(line)) wrong.push(line);
    seen.add(line);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.nodeValue, element = walker.currentNode.parentElement;
    if (!text.trim() || /^(SCRIPT|STYLE)$/.test(element.tagName)) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    if (element.closest("svg")) judge(text, parse(style.fill), parse(style.stroke), element);
    else judge(text, parse(style.color), behind(element), element);
  }
  for (const element of document.querySelectorAll("body *")) {
    for (const which of ["::before", "::after"]) {
      const style = getComputedStyle(element, which);
      if (style.content !== "none" && style.content !== '""' && style.content !== "normal" && element.checkVisibility())
        judge(which, parse(style.color), behind(element), element);
    }
    if (element.tagName === "INPUT" && element.checkVisibility())
      judge("placeholder", parse(getComputedStyle(element, "::placeholder").color), behind(element), element);
  }
  if (texts < 20) wrong.push(`only ${texts} texts were judged`);

  // What a finger must hit.
  for (const element of document.querySelectorAll("button, input, summary, nav a")) {
    if (!element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    if (box.height < 24 && box.width > 0) wrong.push(`${element.tagName} "${element.textContent.slice(0, 20)}" is ${box.height} high`);
  }
  // Every control has a name, every id is there once.
  for (const element of document.querySelectorAll("button, input")) {
    if (!(element.textContent.trim() || element.getAttribute("aria-label") || element.closest("label")))
      wrong.push(`a ${element.tagName} without a name`);
  }
  const ids = Array.from(document.querySelectorAll("[id]"), (e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id is there twice");
  for (const link of document.querySelectorAll("a[href]")) {
    if (!link.getAttribute("href").startsWith("#")) wrong.push(`a link to ${link.getAttribute("href")}`);
    else if (!document.getElementById(link.getAttribute("href").slice(1))) wrong.push(`a link to nothing: ${link.getAttribute("href")}`);
  }
  return wrong;
})()
