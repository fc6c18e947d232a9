//! The origin of a connection.

use std::net::{IpAddr, Ipv6Addr};

/// The origin of a connection, which identifies its owner as far as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// An IP address. For IPv6 the /64 network, in which one machine can use any number of addresses.
    Address(IpAddr),
    /// A Unix socket.
    Local,
}

impl Source {
    /// The source of a TCP connection.
    pub fn of(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            address @ IpAddr::V4(_) => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv6Addr};

    use super::Source;

    #[test]
    fn addresses_of_one_network_count_together() {
        let of = |text: &str| Source::of(text.parse().unwrap_or(IpAddr::V6(Ipv6Addr::LOCALHOST)));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
