"""HTML, CSS, and JavaScript of interactive figures, which `helpers.explore` fills."""

from helpers.language import DARK, INK, LOST, PAPER, SOFT, TOWER

NARROW, WIDE = 560, 900  # pixels: containers from which another layout begins

_CLASSES = {"ink": INK, "paper": PAPER, "soft": SOFT, "a": TOWER[0], "b": TOWER[1],
            "c": TOWER[2], "d": TOWER[3], "bad": LOST}
COLOURS = """:root, svg {{ color-scheme: light dark; {} }}
@media (prefers-color-scheme: dark) {{ :root, svg {{ {} }} }}
""".format(*("; ".join(f"--{name}: {of(colour)}" for name, colour in _CLASSES.items())
             for of in (str, DARK.get))) + """\
svg { font: 13px system-ui, sans-serif; fill: var(--ink); background: var(--paper) }
.ink { color: var(--ink) } .soft { color: var(--soft) } .a { color: var(--a) }
.b { color: var(--b) } .c { color: var(--c) } .d { color: var(--d) }
.bad { color: var(--bad) }
"""
# The height of the frame follows its width, so that the drawing fills it.
AROUND = f"""\
.explore-still {{ display: none }}
.explore {{ container-type: inline-size }}
.explore iframe {{ --above: var(--middle); box-sizing: border-box;
  height: calc(max(100cqw - 30px, var(--least)) * var(--ratio) + var(--above)) }}
@container (max-width: {NARROW}px) {{ .explore iframe {{ --above: var(--narrow) }} }}
@container (min-width: {WIDE}px) {{ .explore iframe {{ --above: var(--wide) }} }}
"""
PAGE = """<!doctype html>
<html lang='en'><head><meta charset='utf-8'><title>{question}</title><style>{style}
body {{ font: 14px/1.45 system-ui, sans-serif; color: var(--ink); margin: 0;
  background: var(--paper) }}
main {{ padding: 10px 14px; box-sizing: border-box; height: 100vh;
  max-width: {widest}px; display: flex; flex-direction: column; gap: 9px }}
main > * {{ flex: none }} h1 {{ font-size: 16px; margin: 0 }}
form, form div {{ display: flex; flex-wrap: wrap; gap: 7px 20px; align-items: center }}
form div {{ gap: 7px }}
fieldset {{ border: 0; margin: 0; padding: 0; min-width: 0; display: flex;
  flex-wrap: wrap; align-items: center }}
legend {{ float: left; padding: 0 8px 0 0; color: var(--soft) }}
fieldset label {{ border: 1px solid var(--soft); margin: 0 0 -1px -1px; cursor: pointer;
  position: relative }}
fieldset span {{ display: block; padding: 2px 11px }}
fieldset input {{ position: absolute; inset: 0; margin: 0; opacity: 0 }}
.range {{ display: flex; flex: 1 1 300px; gap: 8px; align-items: center }}
[type=range] {{ flex: 1; min-width: 120px; max-width: 480px }}
.range span {{ min-width: 4em }}
input:checked + span {{ background: var(--a); color: var(--paper) }}
input:focus-visible + span, :focus-visible {{ outline: 3px solid var(--b);
  outline-offset: 2px }}
button {{ font: inherit }} #play {{ min-width: 6em }} [hidden] {{ display: none }}
output {{ min-height: 1.45em; font-weight: 600 }}
#view {{ flex: 1 0 {lowest}px; position: relative; overflow: auto hidden }}
#stage {{ position: absolute; width: 100%; height: 100%; min-width: {least}px }}
p {{ margin: 0; color: var(--soft) }}
[data-control] {{ cursor: pointer }} [data-control]:hover {{ opacity: 0.7 }}
@media (max-width: {narrow}px) {{
  form {{ flex-direction: column; align-items: stretch }}
  legend, .range {{ width: 100%; flex: none }} fieldset span {{ padding: 4px 11px }} }}
td, th {{ padding: 1px 14px 1px 0; text-align: left; font-size: 13px }}
@media (forced-colors: active) {{ input:checked + span {{ background: Highlight }} }}
</style></head><body><main><h1>{question}</h1><form>{controls}
<div><button type='button' id='play' hidden></button><button type='reset'>reset</button>
</div></form><output id='says' aria-live='polite'></output>
<div id='view'><svg id='stage' viewBox='0 0 {width} {height}' role='img'
preserveAspectRatio='xMinYMin'>{layers}</svg></div><p id='wider' hidden>Scroll the
drawing sideways to see all of it.</p><p id='touch' hidden></p>
<details><summary>All settings in words</summary><table></table></details></main>
<script>
const {{controls, values, play, frames}} = {data};
const form = document.querySelector("form"), find = id => document.getElementById(id);
const stage = find("stage"), view = find("view"), says = find("says");
const layers = [...stage.children], table = document.querySelector("table");
function row(cells, kind) {{
  const line = table.insertRow();
  for (const words of cells)
    line.appendChild(document.createElement(kind)).textContent = words;
}}
row([...controls, "what happens"], "th");
frames.forEach(([shown, words], at) => {{
  const cells = values.map((of, k) => of[Math.floor(at / values.slice(k + 1).reduce(
    (product, next) => product * next.length, 1)) % of.length]);
  row([...cells, words], "td");
}});
const chosen = k => +new FormData(form).get("k" + k);
function choose(k, n) {{
  const field = form.elements["k" + k];
  if (field.length) field[n].checked = true; else field.value = n;
  show();
}}
function show() {{
  const at = values.reduce((sum, of, k) => sum * of.length + chosen(k), 0);
  const [shown, words] = frames[at];
  stage.replaceChildren(...shown.map(k => layers[k]));  // in the order of the frame
  stage.setAttribute("aria-label", words);
  says.textContent = words;
  for (const range of document.querySelectorAll("[type=range]")) {{
    const value = values[+range.name.slice(1)][+range.value];
    range.setAttribute("aria-valuetext", value);
    range.nextElementSibling.textContent = value;
  }}
}}
function fit() {{  // room for the longest sentence, so that the drawing stays in place
  says.style.minHeight = "";
  const heights = frames.map(([shown, words]) => {{
    says.textContent = words;
    return says.offsetHeight;
  }});
  says.style.minHeight = Math.max(...heights) + "px";
  show();
  const wider = view.scrollWidth > view.clientWidth + 1;
  find("wider").hidden = !wider;
  if (wider) view.tabIndex = 0; else view.removeAttribute("tabindex");
}}
const time = controls.indexOf(play), button = find("play");
const still = matchMedia("(prefers-reduced-motion: reduce)");
let timer = 0, paused = false;
function stop(pauses) {{
  clearInterval(timer);
  timer = 0;
  paused = pauses;
  button.textContent = still.matches ? "next" : "\u25b6 play";
  says.setAttribute("aria-live", "polite");
}}
function next() {{
  const last = values[time].length - 1;
  const begins = still.matches && chosen(time) === last;
  choose(time, begins ? 0 : Math.min(chosen(time) + 1, last));
  if (timer && chosen(time) === last) stop(false);
}}
button.addEventListener("click", () => {{
  if (still.matches) return next();
  if (timer) return stop(true);
  if (!paused || chosen(time) === values[time].length - 1) choose(time, 0);
  says.setAttribute("aria-live", "off");  // it would speak without a pause
  timer = setInterval(next, Math.min(1200, Math.max(120, 8000 / values[time].length)));
  button.textContent = "\u23f8 pause";
}});
button.hidden = time < 0;
still.addEventListener("change", () => stop(false));
form.addEventListener("input", () => {{ stop(true); show(); }});
form.addEventListener("reset", () => setTimeout(() => {{ stop(false); show(); }}));
const touched = new Set(layers.flatMap(
  layer => [...layer.querySelectorAll("[data-control]")].map(e => e.dataset.control)));
find("touch").hidden = !touched.size;
find("touch").textContent =
  `A click in the drawing also chooses: ${{[...touched].join(", ")}}.`;
stage.addEventListener("click", event => {{
  const part = event.target.closest("[data-control]");
  if (!part) return;
  const k = controls.indexOf(part.dataset.control);
  stop(true);
  choose(k, values[k].indexOf(part.dataset.value));
}});
new ResizeObserver(fit).observe(view);
stop(false);
fit();
</script></body></html>"""
