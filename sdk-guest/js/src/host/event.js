// Written by `just bindings` from the contract. Do not edit.

export { raw } from "hookbox:hooks/event@0.2.0";
