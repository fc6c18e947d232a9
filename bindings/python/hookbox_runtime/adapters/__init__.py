"""Hook sets in agent SDKs, one small module each. Each needs the SDK that it is named after, which this package does not install."""
