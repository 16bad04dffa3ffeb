// The page: sends the form to the worker at each change, and shows its answers.
const main = document.querySelector("#simulation");
const form = main.querySelector("form");
const element = (id) => document.getElementById(id);
const worker = new Worker("worker.js", { type: "module" });
let presets = {};
let number = 0;

function send() {
    number += 1;
    main.setAttribute("aria-busy", "true");
    const fields = Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.value]));
    worker.postMessage({ number, form: JSON.stringify(fields) });
}

/** Fills in the numbers of the patient strategy, or those of the chosen preset. */
function fill() {
    const { strategy, preset } = form.elements;
    const numbers = presets[strategy.value === "patient" ? "patient" : preset.value];
    for (const [name, value] of Object.entries(numbers)) form.elements[name].value = value;
}

/** Leaves out what the patient strategy does not have: other presets, and a number of its quota. */
function choose() {
    const { strategy, preset, quota } = form.elements;
    const isPatient = strategy.value === "patient";
    if (isPatient === preset.disabled) return;
    preset.disabled = quota.disabled = isPatient;
    if (isPatient) preset.value = "default";
    fill();
}

/** Shows below each invalid field what is expected. */
function showInvalid(invalid) {
    for (const field of form.elements) {
        if (!field.name) continue;
        const id = `${field.name}-expected`;
        element(id)?.remove();
        field.removeAttribute("aria-invalid");
        field.removeAttribute("aria-describedby");
        if (!(field.name in invalid)) continue;
        const message = document.createElement("span");
        Object.assign(message, { id, className: "expected", textContent: invalid[field.name] });
        field.after(message);
        field.setAttribute("aria-invalid", "true");
        field.setAttribute("aria-describedby", id);
    }
    if (Object.keys(invalid).length) say("copy", "A setting is invalid. The pictures show the last valid ones."), say("outage", "");
}

function say(part, sentence) {
    element(`${part}-sentence`).textContent = sentence;
}

function show(part, result) {
    if (part === "texts") {
        element("toml").textContent = result.toml;
        element("rust").textContent = result.rust;
        return;
    }
    element(part).innerHTML = result.svg;
    if ("sentence" in result) say(part, result.sentence);
}

function fail(reason) {
    say("copy", `The playground does not work in this browser: ${reason}`);
    main.setAttribute("aria-busy", "false");
}

worker.onerror = (event) => fail(event.message ?? "its worker cannot be loaded");
worker.onmessage = ({ data }) => {
    if (data.failed) return fail(data.failed);
    if (data.presets) {
        presets = data.presets;
        fill();
        choose();
        return send();
    }
    if (data.number !== number) return;
    showInvalid(data.result.invalid ?? {});
    if (!data.result.invalid) show(data.part, data.result);
    if (data.isLast) main.setAttribute("aria-busy", "false");
};
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => {
    if (event.target.name === "preset") fill();
    if (event.target.name === "strategy") choose();
    send();
});
// Arrow keys scroll a picture or a text, and do not turn the page of the book.
main.addEventListener("keydown", (event) => event.stopPropagation());
