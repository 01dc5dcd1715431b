import HeliographCrypto
import Testing

@testable import Push

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

    private static let secret = "APA91b" + String(repeating: "x", count: 134)

    @Test(arguments: [
        "dXk3Zq_9T0mYyRbN1-aB2c:\(secret)", "dXk3Zq_9T0mYyRbN1-aB2c:short", "demo_token_placeholder:\(secret)", "fXk3Zq_9T0m:\(secret)",
        secret, "phone:\(secret)", String(repeating: "x", count: 160), "another.form=" + String(repeating: "x", count: 100),
    ])
    func `a token has the shape of those that FCM gives out, today and in former years`(_ value: String) {
        #expect(PushTarget(value)?.kind == .token)
    }

    @Test func `tokens that share what is before their colon are of one phone only if that is an installation id`() throws {
        func key(_ value: String) throws -> [UInt8] { try #require(PushTarget(value)).installationKey }
        let other = "APA91b" + String(repeating: "y", count: 134)
        #expect(try key("dXk3Zq_9T0mYyRbN1-aB2c:\(Self.secret)") == key("dXk3Zq_9T0mYyRbN1-aB2c:\(other)"))
        #expect(try key("phone:\(Self.secret)") != key("phone:\(other)"))
    }

    private static let noTokens: [(value: String, fault: PushTarget.Fault)] = [
        ("", .malformed), (":", .malformed), (":APA91b", .malformed), ("a", .malformed), ("123", .malformed),
        ("plain-old-token", .malformed),
        ("bXk3Zq_9T0mYyRbN1-aB2c", .malformed), ("dXk3Zq_9T0mYyRbN1-aB2", .malformed), ("dXk3Zq_9T0mYyRbN1-aB2+", .malformed),
        ("dXk3Zq_9T0mYyRbN1-aB2c:", .malformed), ("demo_token_placeholder", .malformed), ("demo_token_placeholder:x", .malformed),
        (String(repeating: "x", count: 99), .malformed),
        ("com.google.android.gms.tasks.zzu@1a2b3c", .malformed), ("2F1B9A6C-5C5E-4B0F-9A59-0C4C4D5B8E11", .malformed),
        (String(repeating: "x", count: 4_097), .malformed), (String(repeating: "0f", count: 80), .apnsToken),
        ("NO_TOKEN", .placeholder), ("no-token", .placeholder), ("notavailable", .placeholder), ("Error", .placeholder),
        ("MISSING_INSTANCEID_SERVICE", .placeholder), ("string", .placeholder), ("undefined:APA91b", .placeholder),
        ("(null)", .placeholder),
        ("ExponentPushToken[abc]", .expoToken), ("[abc]", .quoted), ("\"dXk3Zq_9T0mYyRbN1-aB2c\"", .quoted),
        ("{length = 32, bytes = 0x3a5e ... 91c2 }", .apnsToken), ("<\(String(repeating: "0f1e2d3c ", count: 8))>", .apnsToken),
        (String(repeating: "0f", count: 32), .apnsToken), ("Bearer dXk3Zq", .unprintable), ("no token", .unprintable),
        ("töken", .unprintable),
        ("a\u{0}b", .unprintable), ("line\nbreak", .unprintable), (" ", .unprintable),
    ]

    @Test(arguments: noTokens.indices) func `anything else is refused with the reason`(index: Int) {
        let (value, fault) = Self.noTokens[index]
        #expect(PushTarget.Fault(of: value) == fault, "\(value.prefix(40))")
        #expect(PushTarget(value) == nil)
    }

    @Test func `the hashes of a value are those that are stored`() throws {
        let target = try #require(PushTarget("dXk3Zq_9T0mYyRbN1-aB2c:APA91bHun4MxP5egoKMwt2KZFBaFUH"))
        #expect(target.installationKey == SHA256.hash("installation:dXk3Zq_9T0mYyRbN1-aB2c"))
        #expect(target.valueHash == SHA256.hash("push_value:dXk3Zq_9T0mYyRbN1-aB2c:APA91bHun4MxP5egoKMwt2KZFBaFUH"))
    }

    @Test func `the two hashes of one value never coincide`() throws {
        let target = try #require(PushTarget(Self.secret))
        #expect(target.installationKey != target.valueHash)
    }

    @Test func `printing a target hides its value`() {
        #expect("\(PushTarget.token("secret"))" == "token")
        #expect("\(PushTarget.fid("secret"))" == "fid")
    }
}
