//! A malicious server cannot harm a client.

use super::*;

#[test]
fn servers_without_secret_are_rejected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (salt, known) = (SALTED.salt, &*SECRET);
    let act = |secret: bool, after: Vec<u8>| {
        let taken = listener.try_clone().unwrap();
        let impostor = std::thread::spawn(move || {
            let mut stream = taken.accept().unwrap().0;
            let mut hello = [0; Hello::LEN];
            stream.read_exact(&mut hello).unwrap();
            stream.write_all(&Challenge { secret, salt, nonce: [2; NONCE_LEN] }.encode()).unwrap();
            let _ = stream.write_all(&after);
            // Reads what the client sends, so that the client is not cut off by a reset.
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let why = Connection::open(address, Some(known), &StopFlag::default()).err().unwrap();
        impostor.join().unwrap();
        why
    };
    assert!(matches!(act(true, [vec![1], vec![0; PROOF_LEN]].concat()), ConnectionError::Impostor));
    assert!(matches!(act(false, vec![]), ConnectionError::NoSecret));
    assert!(act(true, vec![]).to_string().contains("closed"));
}

/// Neither a silent server nor one that stops in the middle of a message delays a run.
#[test]
fn silent_servers_time_out() {
    const IDLE: Duration = Duration::from_millis(50);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let opened = || {
        Connection::open_within(address, Some(&*SECRET), &StopFlag::default(), IDLE).err().unwrap()
    };
    // Connected by the kernel, but never replied to.
    assert!(matches!(opened(), ConnectionError::Stream(StreamError::Silent(_))));
    let halting = std::thread::spawn(move || {
        let _silent = listener.accept().unwrap();
        let mut stream = listener.accept().unwrap().0;
        stream
            .write_all(
                &Challenge { secret: true, salt: [0; SALT], nonce: [2; NONCE_LEN] }.encode()[..7],
            )
            .unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(matches!(
        opened(),
        ConnectionError::Stream(StreamError::Silent(_) | StreamError::Late)
    ));
    halting.join().unwrap();
}

#[test]
fn other_servers_and_versions_are_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut newer = Challenge { secret: true, salt: [0; SALT], nonce: [2; NONCE_LEN] }.encode();
    newer[7] = 200;
    // The challenge of the first version was shorter.
    let mut older = newer[..newer.len() - SALT].to_vec();
    older[7] = 1;
    for (says, wanted) in [
        (
            b"HTTP/1.1 400 Bad WireRequest\r\nConnection: close\r\n\r\n".to_vec(),
            "not speak the protocol",
        ),
        (newer.to_vec(), "it uses version 200 of the protocol, this iotui version 2; "),
        (older, "it uses version 1 of the protocol, this iotui version 2; "),
    ] {
        let taken = listener.try_clone().unwrap();
        let other = std::thread::spawn(move || {
            let mut stream = taken.accept().unwrap().0;
            stream.write_all(&says).unwrap();
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let why = Connection::open(address, None, &StopFlag::default()).err().unwrap().to_string();
        assert!(why.contains(wanted), "{why}");
        other.join().unwrap();
    }
}

#[test]
fn lying_servers_are_not_believed() {
    let facts = |reply: u64, text: Vec<u8>| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let liar = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let (mut hello, mut proof, mut request) = ([0; Hello::LEN], [0; PROOF_LEN], [0; FRAME]);
            stream.read_exact(&mut hello).unwrap();
            stream
                .write_all(
                    &Challenge { secret: false, salt: [0; SALT], nonce: [2; NONCE_LEN] }.encode(),
                )
                .unwrap();
            stream.read_exact(&mut proof).unwrap();
            stream.write_all(&[1]).unwrap();
            let own = Hello::decode(&hello).unwrap().nonce;
            stream.write_all(&prove(None, ProofSide::Server, &own, &[2; NONCE_LEN])).unwrap();
            stream.read_exact(&mut request).unwrap();
            stream.write_all(&WireReply::Done(reply).encode()).unwrap();
            let _ = stream.write_all(&text);
        });
        let found = Connection::open(address, None, &StopFlag::default()).unwrap().facts();
        liar.join().unwrap();
        found
    };
    assert_eq!(facts(2, b"{}".to_vec()).unwrap(), HostSummary::default());
    assert!(facts(u64::MAX, vec![b'a'; 100]).is_err());
    assert!(facts(MAX_FACTS + 1, vec![b'a'; 100]).is_err());
    assert!(facts(MAX_FACTS, vec![b'['; MAX_FACTS as usize]).is_err(), "nested too deep");
    assert!(facts(4, b"{\xff}}".to_vec()).is_err());
    let name = format!("{{\"name\":\"{}\"}}", "\\u001b\u{202e}".repeat(300));
    assert!(
        !facts(name.len() as u64, name.into_bytes()).unwrap().name.contains(['\u{1b}', '\u{202e}'])
    );
}
