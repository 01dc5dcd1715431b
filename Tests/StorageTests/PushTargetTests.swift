import Storage
import Testing

struct PushTargetTests {
    @Test func `a token and the installation id it begins with identify one installation`() throws {
        let fid = "dXk3Zq_9T0mYyRbN1-aB2c"
        let token = try #require(PushTarget(fid + ":APA91bHun4MxP5egoKMwt2KZFBaFUH"))
        let newer = try #require(PushTarget(fid + ":APA91bANOTHER"))
        let bare = try #require(PushTarget(fid))
        #expect(token.kind == .token && bare.kind == .fid)
        #expect(token.installationKeyMessage == bare.installationKeyMessage)
        #expect(token.installationKeyMessage == newer.installationKeyMessage)
        #expect(token.valueHashMessage != newer.valueHashMessage)
    }

    @Test(arguments: ["bXk3Zq_9T0mYyRbN1-aB2c", "dXk3Zq_9T0mYyRbN1-aB2", "dXk3Zq_9T0mYyRbN1-aB2+", "plain-old-token"])
    func `a value without the format of an installation id is a token`(_ value: String) {
        #expect(PushTarget(value)?.kind == .token)
    }

    @Test(arguments: ["", ":", ":APA91b", " ", "a b", "töken", "a\u{0}b", "line\nbreak", String(repeating: "x", count: 4097)])
    func `an invalid value is refused`(_ value: String) {
        #expect(PushTarget(value) == nil)
    }

    @Test func `the two messages of one value never coincide`() throws {
        let target = try #require(PushTarget("token-without-colon"))
        #expect(target.installationKeyMessage != target.valueHashMessage)
    }
}
