//! Ways out of containers, in the words of their engines.

use pretty_assertions::assert_eq;

use super::*;

fn opens(words: &[&str]) -> bool {
    let extra_args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let container = Container { image: "i", extra_args: &extra_args, ..Container::default() };
    container.has_host_access([])
}

#[test]
fn arguments_that_lead_to_the_host() {
    for line in [
        "-v /:/host",
        "-v/:/host",
        "-v=/:/host",
        "-itv /:/host",
        "-it -v ~:/h",
        "--volume /:/host",
        "--volume=./x:/x:ro",
        "--volume=.hidden:/x",
        "--volume name:/data --volume /var/run/docker.sock:/var/run/docker.sock",
        "--mount type=bind,source=/,target=/host",
        "--mount=type=bind,src=/,dst=/h",
        "--mount dst=/h,src=/,type=bind",
        "--mount TYPE=bind,src=x,dst=/h",
        "--mount \"type=bind\",src=/,dst=/h",
        "--mount type=volume,dst=/h,volume-driver=local,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/",
        "--mount type=image,src=x,dst=/h",
        "--volume-driver local",
        "--volumes-from other",
        "--privileged",
        "--privileged=true",
        "--cap-add SYS_ADMIN",
        "--cap-add=ALL",
        "--device /dev/sda",
        "--device=/dev/mem",
        "--device-cgroup-rule c_1:1_rwm",
        "--pid=host",
        "--pid container:other",
        "--ipc=host",
        "--uts=host",
        "--userns=host",
        "--userns keep-id",
        "--cgroupns host",
        "--cgroup-parent=/",
        "--network=host",
        "--network host",
        "--net=host",
        "--network container:other",
        "--network=ns:/proc/1/ns/net",
        "--network slirp4netns:allow_host_loopback=true",
        "--security-opt seccomp=unconfined",
        "--security-opt=apparmor=unconfined",
        "--security-opt label=disable",
        "--security-opt systempaths=unconfined",
        "--security-opt no-new-privileges=false",
        "--env-file /etc/passwd",
        "-e DOCKER_HOST=tcp://172.17.0.1:2375",
        "--env=DOCKER_HOST",
        "--runtime /tmp/evil",
        "--log-driver k8s-file",
        "--log-opt path=/etc/cron.d/x",
        "--annotation run.oci.x=y",
        "--group-add docker",
        "--gpus all --privileged",
        "--label --privileged --privileged",
        "--cidfile /etc/x",
        "--use-api-socket",
        "--unheard-of",
        "-Z",
        "-",
        "--",
        "another-image",
        "--gpus",
        "-v",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(opens(&words), "{line}");
    }
    // One word that holds a blank.
    assert!(opens(&["-v /:/host"]) && opens(&["--volume /:/host"]));
}

#[test]
fn arguments_that_lead_nowhere() {
    for line in [
        "",
        "--gpus all",
        "--gpus=all --shm-size 1g",
        "-it --rm --init --read-only --tmpfs /x:size=1m",
        "-itm 512m -e A=b -eC=d --env E -u1000:1000 -w /x",
        "-v data:/data --volume=v:/data:ro",
        "--mount type=volume,source=v,target=/data,readonly",
        "--mount type=tmpfs,destination=/x,tmpfs-size=1m",
        "--network=none --dns 1.1.1.1 --add-host a:1.2.3.4",
        "--net my-net -p 127.0.0.1:8080:80",
        "--ipc=private --cgroupns=private --security-opt no-new-privileges",
        "--cap-drop=ALL --ulimit nofile=1024 --pids-limit 10 --runtime=runsc",
        "--label --privileged",
        "--log-driver json-file --log-opt max-size=1m",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(!opens(&words), "{line}");
    }
}

#[test]
fn what_else_leads_to_the_host() {
    let closed = Container { image: "i", ..Container::default() };
    assert!(!closed.has_host_access(["A", "PATH"]));
    assert!(closed.has_host_access(["A", "DOCKER_HOST"]));
    assert!(Container { has_host_cwd: true, ..closed }.has_host_access([]));
    assert!(Container { image: " -v/:/host", ..closed }.has_host_access([]));
    let volumes = ["data:/d".to_owned(), "/srv:/srv".to_owned()];
    assert!(Container { volumes: &volumes, ..closed }.has_host_access([]));
    assert!(!Container { volumes: &volumes[..1], ..closed }.has_host_access([]));
}

#[test]
fn volumes_are_taken_apart() {
    for (volume, parts, is_host) in [
        ("/a:/b", Some(("/a", "/b")), true),
        (" ./a:/d", Some((" ./a", "/d")), true),
        ("named:/data:ro", Some(("named", "/data")), false),
        (r"C:\x:/y", Some((r"C:\x", "/y")), true),
        ("d:/x:/y:ro", Some(("d:/x", "/y")), true),
        ("~:/y", Some(("~", "/y")), true),
        ("~/x:/y", Some(("~/x", "/y")), true),
        ("./x:/y", Some(("./x", "/y")), true),
        ("../x:/y", Some(("../x", "/y")), true),
        ("..x:/y", Some(("..x", "/y")), true),
        ("a/b:/y", Some(("a/b", "/y")), true),
        (".:/y", Some((".", "/y")), true),
        ("nocolon", None, false),
        ("/nocolon", None, true),
        ("x:", None, true),
        ("", None, false),
        (r"C:\x", Some(("C", r"\x")), true),
        ("v:/data", Some(("v", "/data")), false),
        ("v:/data:ro", Some(("v", "/data")), false),
        ("my-data_1.x:/y", Some(("my-data_1.x", "/y")), false),
        ("ü:/y", Some(("ü", "/y")), true),
    ] {
        assert_eq!((volume_parts(volume), is_host_folder(volume)), (parts, is_host), "{volume}");
    }
}
