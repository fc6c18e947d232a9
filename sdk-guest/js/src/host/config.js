// Written by `just bindings` from the contract. Do not edit.

export { get } from "hookbox:hooks/config@0.2.0";
