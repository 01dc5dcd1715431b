import HeliographCrypto
import Testing

@testable import HeliographCtl

struct KeysCommandTests {
    @Test func `generate prints three lines that the services accept`() async throws {
        let result = await heliographctl("keys", "generate")
        #expect(result.exitCode == 0)
        #expect(result.results.map { String($0.prefix { $0 != "=" }) } == ["SEALING_KEYS", "LOOKUP_KEY", "MEDIA_LINK_KEY"])
        let values = result.results.map { String($0.drop { $0 != "=" }.dropFirst()) }
        _ = try KeyRing(parsing: values[0])
        #expect(values.dropFirst().allSatisfy { Base64.decode($0)?.count == 32 })
    }

    @Test func `keys are different every time`() async {
        let first = await heliographctl("keys", "generate").results
        let second = await heliographctl("keys", "generate").results
        #expect(Set(first + second).count == 6)
    }

    @Test func `a new key can be put in front of an old one`() async throws {
        let old = await heliographctl("keys", "generate", "--sealing-only").results
        let new = await heliographctl("keys", "generate", "--key-id", "k2", "--sealing-only").results
        #expect(old.count == 1 && new.count == 1)
        func value(_ line: String) -> String { String(line.drop { $0 != "=" }.dropFirst()) }
        let sealed = try Sealer(keyRing: KeyRing(parsing: value(old[0]))).seal([1, 2, 3], context: [])
        let rotated = Sealer(keyRing: try KeyRing(parsing: value(new[0]) + "," + value(old[0])))
        #expect(try rotated.open(sealed, context: []) == [1, 2, 3])
    }

    @Test(arguments: ["", "a b", "k:1", String(repeating: "k", count: 33)])
    func `an invalid key id is refused`(_ id: String) async {
        #expect(await heliographctl("keys", "generate", "--key-id", id).exitCode == 64)
    }
}
