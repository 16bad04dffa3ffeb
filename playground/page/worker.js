// Computes the answers for a form, part by part. A newer form replaces the one in work before the next part.
import init, { answer, presets } from "./playground.js";

const PARTS = ["texts", "timeline", "copy", "outage"];
let wanted = null;
let isRunning = false;

async function run() {
    isRunning = true;
    while (wanted) {
        const { number, form } = wanted;
        wanted = null;
        for (const [index, part] of PARTS.entries()) {
            const result = JSON.parse(answer(part, form));
            const isLast = index === PARTS.length - 1 || "invalid" in result;
            postMessage({ number, part, result, isLast });
            // Messages that came meanwhile are delivered here.
            await new Promise((resolve) => setTimeout(resolve));
            if (isLast || wanted) break;
        }
    }
    isRunning = false;
}

try {
    await init();
    onmessage = ({ data }) => {
        wanted = data;
        if (!isRunning) run();
    };
    postMessage({ presets: JSON.parse(presets()) });
} catch (error) {
    postMessage({ failed: String(error) });
}
