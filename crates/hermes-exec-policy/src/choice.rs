//! Small decisions of single backends.

use std::fmt;

use crate::config::ModalMode;
use crate::digest::short_hex;

/// What a user has for Modal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModalMeans {
    /// Credentials of the user's own.
    pub has_direct: bool,
    /// Entitled to the gateway.
    pub managed_enabled: bool,
    /// A token for the gateway is there.
    pub managed_ready: bool,
}

/// With whose account a sandbox of Modal is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModalBackend {
    /// Through the gateway.
    Managed,
    /// With the user's own.
    Direct,
}

impl ModalBackend {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Direct => "direct",
        }
    }

    /// The account for a mode. A chosen one never falls back to the other.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub fn choose(mode: ModalMode, means: ModalMeans) -> Result<Self, ModalUnusable> {
        let managed = means.managed_enabled && means.managed_ready;
        match mode {
            ModalMode::Managed | ModalMode::Auto if managed => Ok(Self::Managed),
            ModalMode::Direct | ModalMode::Auto if means.has_direct => Ok(Self::Direct),
            _ => Err(ModalUnusable { mode, means }),
        }
    }
}

/// Nothing of what a mode allows can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModalUnusable {
    mode: ModalMode,
    means: ModalMeans,
}

impl fmt::Display for ModalUnusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gateway = if self.means.managed_enabled {
            "a token for the tool gateway (log in again)"
        } else {
            "a subscription with the tool gateway"
        };
        let own = "MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or ~/.modal.toml";
        write!(f, "modal (`modal_mode: {}`) can't be used: missing is ", self.mode.as_str())?;
        match self.mode {
            ModalMode::Managed => write!(f, "{gateway}"),
            ModalMode::Direct => write!(f, "{own}"),
            ModalMode::Auto => write!(f, "{own}, or {gateway}"),
        }
    }
}

impl std::error::Error for ModalUnusable {}

/// What a sandbox of Daytona is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaytonaResources {
    /// Whole processors; 0 leaves it to the server.
    pub cpu: u64,
    /// Memory in GiB.
    pub memory: u64,
    /// Disk in GiB.
    pub disk: u64,
}

/// The most disk that Daytona gives, in GiB.
const DAYTONA_MAX_DISK: u64 = 10;

impl DaytonaResources {
    /// From the settings of containers: megabytes are rounded up, at least 1 GiB each.
    #[must_use]
    pub fn of(cpu: f64, memory_mb: u64, disk_mb: u64) -> Self {
        let gib = |megabytes: u64| megabytes.div_ceil(1024).max(1);
        // Parts of a processor are cut off; the cast also takes care of what is no number.
        let cpu = cpu as u64;
        Self { cpu, memory: gib(memory_mb), disk: gib(disk_mb).min(DAYTONA_MAX_DISK) }
    }
}

/// The file name of the socket of a shared ssh connection: short, since the path of a socket is, and
/// the same for the same target.
#[must_use]
pub fn ssh_socket_name(user: &str, host: &str, port: u16) -> String {
    format!("{}.sock", short_hex(format!("{user}@{host}:{port}").as_bytes(), 8))
}

/// Where singularity takes its image from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SingularityImage {
    /// A file that is there, or something singularity understands by itself.
    AsIs(String),
    /// An image of a registry: built once into a file of this name.
    Build {
        /// The name, without a folder.
        file: String,
        /// The address to build from.
        source: String,
    },
}

impl SingularityImage {
    /// The image by its configured name.
    #[must_use]
    pub fn of(image: &str) -> Self {
        let image = image.trim();
        match image.strip_prefix("docker://") {
            Some(_) => Self::Build { file: sif_name(image), source: image.to_owned() },
            None => Self::AsIs(image.to_owned()),
        }
    }
}

/// The file name of a built image.
#[must_use]
pub fn sif_name(image: &str) -> String {
    let name = image.trim();
    let name = name.strip_prefix("docker://").unwrap_or(name);
    format!("{}.sif", name.replace(['/', ':', '\\', '\0'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_account_is_that_one_or_none() {
        let means = |bits: u8| ModalMeans {
            has_direct: bits & 1 != 0,
            managed_enabled: bits & 2 != 0,
            managed_ready: bits & 4 != 0,
        };
        for bits in 0..8 {
            let managed = bits & 6 == 6;
            let direct = bits & 1 == 1;
            let choose = |mode| ModalBackend::choose(mode, means(bits)).ok();
            assert_eq!(choose(ModalMode::Managed), managed.then_some(ModalBackend::Managed));
            assert_eq!(choose(ModalMode::Direct), direct.then_some(ModalBackend::Direct));
            let auto = managed.then_some(ModalBackend::Managed);
            assert_eq!(choose(ModalMode::Auto), auto.or(direct.then_some(ModalBackend::Direct)));
        }
        let error = ModalBackend::choose(ModalMode::of("odd"), means(2)).unwrap_err().to_string();
        assert!(error.contains("MODAL_TOKEN_ID") && error.contains("token for"), "{error}");
    }

    #[test]
    fn resources_are_rounded() {
        let of = |cpu, memory, disk| {
            let found = DaytonaResources::of(cpu, memory, disk);
            (found.cpu, found.memory, found.disk)
        };
        assert_eq!(of(1.0, 5120, 51200), (1, 5, 10));
        assert_eq!(of(2.9, 0, 0), (2, 1, 1));
        assert_eq!(of(f64::NAN, 1025, 1), (0, 2, 1));
    }

    #[test]
    fn names_of_files() {
        assert_eq!(ssh_socket_name("me", "host.example", 22), "1f4c92563970606d.sock");
        assert_eq!(sif_name("docker://a/b:c"), "a-b-c.sif");
        assert_eq!(sif_name(" docker://python "), "python.sif");
        assert_eq!(sif_name("docker://h:5000/../x"), "h-5000-..-x.sif");
        assert_eq!(sif_name("docker://../../x"), "..-..-x.sif");
        assert_eq!(SingularityImage::of("/x/y.sif"), SingularityImage::AsIs("/x/y.sif".into()));
        let built = SingularityImage::of("docker://a:1");
        assert!(matches!(built, SingularityImage::Build { file, .. } if file == "a-1.sif"));
    }
}
