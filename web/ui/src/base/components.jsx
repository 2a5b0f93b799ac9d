// What all pages are made of. Each component shows one kind of thing, the same everywhere.
import "./style.css";

export * from "./display.jsx";
export * from "./forms.jsx";
export * from "./frame.jsx";
export { tell, trouble } from "./tell.js";
