import HeliographCrypto
import Storage
import Testing

struct PushTargetTests {
    @Test func `a token and the installation id it begins with identify one installation`() throws {
        let fid = "dXk3Zq_9T0mYyRbN1-aB2c"
        let token = try #require(PushTarget(fid + ":APA91bHun4MxP5egoKMwt2KZFBaFUH"))
        let newer = try #require(PushTarget(fid + ":APA91bANOTHER"))
        let bare = try #require(PushTarget(fid))
        #expect(token.kind == .token && bare.kind == .fid)
        #expect(token.installationKey == bare.installationKey)
        #expect(token.installationKey == newer.installationKey)
        #expect(token.valueHash != newer.valueHash)
    }

    @Test(arguments: ["bXk3Zq_9T0mYyRbN1-aB2c", "dXk3Zq_9T0mYyRbN1-aB2", "dXk3Zq_9T0mYyRbN1-aB2+", "plain-old-token"])
    func `a value without the format of an installation id is a token`(_ value: String) {
        #expect(PushTarget(value)?.kind == .token)
    }

    @Test(arguments: ["", ":", ":APA91b", " ", "a b", "töken", "a\u{0}b", "line\nbreak", String(repeating: "x", count: 4097)])
    func `an invalid value is refused`(_ value: String) {
        #expect(PushTarget(value) == nil)
    }

    @Test func `the hashes of a value are those that are stored`() throws {
        let target = try #require(PushTarget("dXk3Zq_9T0mYyRbN1-aB2c:APA91bHun4MxP5egoKMwt2KZFBaFUH"))
        #expect(target.installationKey == SHA256.hash("installation:dXk3Zq_9T0mYyRbN1-aB2c"))
        #expect(target.valueHash == SHA256.hash("push_value:dXk3Zq_9T0mYyRbN1-aB2c:APA91bHun4MxP5egoKMwt2KZFBaFUH"))
    }

    @Test func `the two hashes of one value never coincide`() throws {
        let target = try #require(PushTarget("token-without-colon"))
        #expect(target.installationKey != target.valueHash)
    }
}
