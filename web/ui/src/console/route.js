// Where in the console somebody is: #/records/17, #/records?state=held.
import { go as move, parse as parseHash, to as link, useRoute } from "../base/route.js";

// former are names that views had before; their links still lead to the view.
const former = { "": "overview", status: "overview", held: "attention", upkeep: "maintenance", log: "audit", you: "profile" };

const placeOf = ({ path: [view = "", ...rest], query }) => ({ view: former[view] ?? view, name: rest.join("/"), query });

// parse reads the part of a URL behind its hash.
export const parse = (hash) => placeOf(parseHash(hash));

// usePlace returns the view, the name of one of its things, and its filters.
export const usePlace = () => placeOf(useRoute());

const pathOf = (view, name) => (name === "" ? [view] : [view, String(name)]);

// to is the link to a view.
export const to = (view, name = "", values = {}) => link(pathOf(view, name), values);

// go moves to a view; `replace` leaves no step in the browser's history.
export const go = (view, name = "", values = {}, how = {}) => move(pathOf(view, name), values, how);

// dust is the filter of withdrawals that were too small for a refund and have none.
export const dust = { reason: "dust", state: "refused" };
