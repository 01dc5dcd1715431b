import HeliographCrypto
import TestSupport
import Testing

@testable import HeliographCtl

struct KeysCommandTests {
    private static let names = [
        "FACE_KEYS", "ACCOUNT_KEYS", "TOKEN_KEYS", "PICTURE_KEYS", "LOOKUP_KEYS", "SESSION_KEY", "MEDIA_LINK_KEY",
    ]

    @Test func `generate prints the secrets that the services accept`() async throws {
        let result = await heliographctl("keys", "generate")
        #expect(result.exitCode == 0)
        #expect(result.results.map { String($0.prefix { $0 != "=" }) } == Self.names)
        let values = result.results.map { String($0.drop { $0 != "=" }.dropFirst()) }
        for ring in values.prefix(5) { _ = try KeyRing(parsing: ring) }
        #expect(values.dropFirst(5).allSatisfy { Base64.decode($0)?.count == 32 })
    }

    @Test func `keys are different every time`() async {
        let first = await heliographctl("keys", "generate").results
        let second = await heliographctl("keys", "generate").results
        #expect(Set(first + second).count == 2 * Self.names.count)
    }

    @Test func `a new key can be put in front of an old one`() async throws {
        let old = await heliographctl("keys", "generate", "--ring", "faces").results
        let new = await heliographctl("keys", "generate", "--key-id", "k2", "--ring", "faces").results
        #expect(old.count == 1 && new.count == 1)
        func value(_ line: String) -> String { String(line.drop { $0 != "=" }.dropFirst()) }
        let sealed = try Sealer(keyRing: KeyRing(parsing: value(old[0]))).seal([1, 2, 3], context: [])
        let rotated = Sealer(keyRing: try KeyRing(parsing: value(new[0]) + "," + value(old[0])))
        #expect(try rotated.open(sealed, context: []) == [1, 2, 3])
    }

    @Test func `an id that the ring has is refused`() async throws {
        func generate(_ arguments: String...) async throws -> String {
            try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl"), "keys", "generate"] + arguments,
                environment: ["FACE_KEYS": "\(KeyRing.generateText(id: "k1")),\(KeyRing.generateText(id: "k2"))"])
        }
        let failure = await #expect(throws: CommandLineTool.Failure.self) {
            try await generate("--ring", "faces", "--key-id", "k2")
        }
        #expect(failure?.exitCode == 64)
        #expect(failure?.output == "FACE_KEYS has a key k2: give the new one another id, such as --key-id k3.\n")
        #expect(try await generate("--ring", "faces", "--key-id", "k9").hasPrefix("FACE_KEYS=k9:"))
        #expect(try await generate().hasPrefix("FACE_KEYS=k3:"), "without an id it is one that no ring has")
    }

    @Test(arguments: [
        ([], "k1"), (["k1"], "k2"), (["k2", "k1"], "k3"), (["k2", "k10"], "k11"), (["2026"], "2027"), (["blue"], "blue2"),
        ([String(repeating: "x", count: 32)], "k2"),
    ])
    func `a new key id comes after those of the rings`(_ ids: [String], _ next: String) {
        #expect(KeysGenerateCommand.nextID(after: ids) == next)
    }

    @Test(arguments: ["", "a b", "k:1", String(repeating: "k", count: 33)])
    func `an invalid key id is refused`(_ id: String) async {
        #expect(await heliographctl("keys", "generate", "--key-id", id).exitCode == 64)
    }
}
