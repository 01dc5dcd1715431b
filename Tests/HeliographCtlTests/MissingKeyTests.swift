import TestSupport
import Testing

/// Tests what commands say without the keys of the installation. They run as executables, which read keys from their environment.
struct MissingKeyTests {
    @Test(arguments: [
        (
            ["users", "find", "--email", "ada@example.org"],
            "LOOKUP_KEYS is missing: give the ring that identity-api has (or pass --id)"
        ),
        (
            ["users", "find", "--firebase-uid", "5Qm4ZtXv0kYg3rB1n8hJd2cWLpA2"],
            "FIREBASE_AUTH_PROJECT_ID is missing: give the project that identity-api has (or pass --id)"
        ),
        (["users", "receipt", "--verify", "a.b.c"], "LOOKUP_KEYS is missing: give the ring that identity-api has"),
        (["keys", "rotate", "--ring", "faces"], "FACE_KEYS is missing: give the ring that the services have"),
        (["keys", "verify", "--ring", "tokens"], "TOKEN_KEYS is missing: give the ring that the services have"),
        (
            ["users", "show", "--reveal", "--user", "7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11"],
            "ACCOUNT_KEYS is missing: give the ring that the services have"
        ),
    ])
    func `a command without a key says whose key it needs`(_ arguments: [String], _ note: String) async {
        let failure = await #expect(throws: CommandLineTool.Failure.self) {
            try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl")] + arguments,
                environment: ["LOOKUP_KEYS": "", "FACE_KEYS": "", "TOKEN_KEYS": "", "ACCOUNT_KEYS": "", "FIREBASE_AUTH_PROJECT_ID": ""])
        }
        #expect(failure?.exitCode == 78)
        #expect(failure?.output == note + "\n")
    }
}
