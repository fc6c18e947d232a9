//! Recognises addresses on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns true if an address is publicly reachable: not loopback, private, link-local, multicast or reserved (IANA
/// special-purpose registries). For IPv6 forms that contain an IPv4 address, the IPv4 address decides.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The error message for an address that is not public.
pub(super) fn not_public(name: &str, address: IpAddr) -> String {
    format!("{name} is the private address {address}: to reach it, write `\"private\": true` beside its origin")
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        [0, ..] | [192, 0, 0, _] => true,         // this network, protocol assignments
        [100, second, ..] => second & 0xc0 == 64, // shared by carriers (CGNAT)
        [198, second, ..] => second & 0xfe == 18, // benchmarks
        [first, ..] => first >= 224,              // multicast, reserved, broadcast
    };
    !(special || address.is_loopback() || address.is_private() || address.is_link_local() || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // mapped, NAT64, 6to4
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            v4(high, low)
        }
        // Only 2000::/3 is global, except 2001::/23 (Teredo and others) and the documentation ranges.
        [0x2001, second, ..] => second > 0x01ff && second != 0x0db8,
        [0x3fff, second, ..] => second > 0x0fff,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let private = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.1.2.3 169.254.169.254 172.16.0.1 \
                       172.31.255.255 192.0.0.1 192.168.1.1 198.18.0.1 198.19.255.255 203.0.113.1 224.0.0.1 240.0.0.1 \
                       255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 \
                       64:ff9b:1::1 2002:7f00:1:: 2002:a00:1:: 2001:0:1::1 2001:db8::1 fc00::1 fd00::1 fe80::1 \
                       fec0::1 ff02::1 100::1 3fff::1";
        for address in private.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let public = "1.1.1.1 8.8.8.8 100.63.0.1 100.128.0.1 172.32.0.1 192.0.1.1 198.20.0.1 223.255.255.255 \
                      2606:4700::1111 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808";
        for address in public.split_whitespace() {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
