// Written by `just bindings` from the contract. Do not edit.

export { get, set, delete, increment, compareAndSwap, keys } from "hookbox:hooks/state@0.2.0";
