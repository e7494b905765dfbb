//! What an address belongs to.
//!
//! An IPv6 address may carry an IPv4 one, to which a gateway or the kernel takes the connection.
//! It is that one which counts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address belongs to, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The internet.
    Public,
    /// A network of somebody's own, or nothing that can be reached; the text says which.
    Internal(&'static str),
    /// The metadata service of a cloud, which hands out credentials to whoever asks.
    Metadata,
}

/// Blocks of IPv4 addresses that aren't the internet: first address, length of the prefix, name.
const V4: [(Ipv4Addr, u32, &str); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a carrier"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "reserved"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
    // Anycast services of the protocol, inside of the reserved block.
    (Ipv4Addr::new(192, 0, 0, 9), 32, ""),
    (Ipv4Addr::new(192, 0, 0, 10), 32, ""),
];

/// Where clouds answer about the machine that asks: the link-local block as a whole (AWS, Azure,
/// Google, OpenStack, Oracle, tasks of ECS), Alibaba's, Oracle's and Azure's other ones.
const V4_METADATA: [(Ipv4Addr, u32); 4] = [
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(100, 100, 100, 200), 32),
    (Ipv4Addr::new(192, 0, 0, 192), 32),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// The same of AWS and Google, in IPv6.
const V6_METADATA: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Blocks of IPv6 addresses. The first that fits counts; what fits none is the internet if it is
/// in 2000::/3, else reserved.
const V6: [(Ipv6Addr, u32, &str); 16] = [
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "private"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "private"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, "benchmarks"),
    (Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 1), 128, ""),
    (Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 2), 128, ""),
    (Ipv6Addr::new(0x2001, 3, 0, 0, 0, 0, 0, 0), 32, ""),
    (Ipv6Addr::new(0x2001, 4, 0x112, 0, 0, 0, 0, 0), 48, ""),
    (Ipv6Addr::new(0x2001, 0x20, 0, 0, 0, 0, 0, 0), 27, ""),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "reserved"),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, ""),
];

/// What `ip` belongs to.
#[must_use]
pub fn verdict(ip: IpAddr) -> Verdict {
    match ip {
        IpAddr::V4(ip) => verdict_v4(ip),
        IpAddr::V6(ip) => verdict_v6(ip),
    }
}

fn verdict_v4(ip: Ipv4Addr) -> Verdict {
    let is_in = |block: Ipv4Addr, length| {
        (ip.to_bits() ^ block.to_bits()).checked_shr(32 - length).unwrap_or(0) == 0
    };
    if V4_METADATA.iter().any(|(block, length)| is_in(*block, *length)) {
        return Verdict::Metadata;
    }
    // The longest prefix counts.
    let blocks = V4.iter().filter(|(block, length, _)| is_in(*block, *length));
    named(blocks.max_by_key(|(_, length, _)| *length).map_or("", |(_, _, name)| name))
}

const fn named(name: &'static str) -> Verdict {
    if name.is_empty() { Verdict::Public } else { Verdict::Internal(name) }
}

fn verdict_v6(ip: Ipv6Addr) -> Verdict {
    if V6_METADATA.contains(&ip) {
        return Verdict::Metadata;
    }
    let carried = Carried::by(ip);
    let inner = carried.addresses.into_iter().flatten().map(verdict_v4).max();
    match (carried.way, inner) {
        (Way::Whole, Some(inner)) => inner,
        (Way::Beside, Some(inner)) => inner.max(verdict_alone(ip)),
        (_, None) => verdict_alone(ip),
    }
}

/// The verdict on an address that carries none.
fn verdict_alone(ip: Ipv6Addr) -> Verdict {
    let is_in = |block: Ipv6Addr, length| {
        (ip.to_bits() ^ block.to_bits()).checked_shr(128 - length).unwrap_or(0) == 0
    };
    let block = V6.iter().find(|(block, length, _)| is_in(*block, *length));
    named(block.map_or("reserved", |(_, _, name)| name))
}

/// The IPv4 addresses in an IPv6 address.
struct Carried {
    way: Way,
    addresses: [Option<Ipv4Addr>; 2],
}

/// What carrying an address makes of the one that carries it.
enum Way {
    /// It is another spelling: only what is carried counts.
    Whole,
    /// It counts as well.
    Beside,
}

impl Carried {
    fn by(ip: Ipv6Addr) -> Self {
        let last = Ipv4Addr::from_bits(low_32(ip.to_bits()));
        let joined =
            |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
        let whole = |first, second| Self { way: Way::Whole, addresses: [first, second] };
        let beside = |first, second| Self { way: Way::Beside, addresses: [first, second] };
        match ip.segments() {
            // These two are no IPv4 addresses.
            [0, 0, 0, 0, 0, 0, 0, 0 | 1] => beside(None, None),
            // Mapped, compatible, NAT64.
            [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
                whole(Some(last), None)
            }
            // 6to4.
            [0x2002, high, low, ..] => whole(Some(joined(high, low)), None),
            // Teredo: the server, and the client with every bit turned.
            [0x2001, 0, high, low, ..] => {
                let client = Ipv4Addr::from_bits(!last.to_bits());
                whole(Some(joined(high, low)), Some(client))
            }
            // NAT64 of somebody's own, in its two usual forms. The address is private in any case.
            [0x64, 0xff9b, 1, high, middle, low, ..] => {
                let [_, after] = middle.to_be_bytes();
                let [before, _] = low.to_be_bytes();
                beside(Some(joined(high, u16::from_be_bytes([after, before]))), Some(last))
            }
            // Translated, ISATAP.
            [0, 0, 0, 0, 0xffff, 0, ..] | [_, _, _, _, 0 | 0x200, 0x5efe, ..] => {
                beside(Some(last), None)
            }
            _ => beside(None, None),
        }
    }
}

fn low_32(bits: u128) -> u32 {
    u32::try_from(bits & u128::from(u32::MAX)).unwrap_or_default()
}
