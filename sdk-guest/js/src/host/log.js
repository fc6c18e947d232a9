// Written by `just bindings` from the contract. Do not edit.

export { log } from "hookbox:hooks/log@0.2.0";
