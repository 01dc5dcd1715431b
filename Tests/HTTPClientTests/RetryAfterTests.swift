import FoundationEssentials
import HTTPClient
import Testing

@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    static let now = Date(timeIntervalSince1970: 784_111_777)

    private static func wait(_ value: String?) -> Duration? {
        let headers = value.map { [(name: "retry-after", value: $0)] } ?? []
        return HTTPClientResponse(status: 503, headers: headers).retryAfter(now: now, max: .seconds(3600))
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), ("999999", 3600), ("99999999999999999999", 3600),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("Tue, 29 Feb 2028 00:00:00 GMT", 3600),
    ])
    func `seconds and dates are parsed`(value: String, seconds: Int) {
        #expect(Self.wait(value) == .seconds(seconds))
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET"])
    func `any other value is ignored`(value: String) {
        #expect(Self.wait(value) == nil)
    }

    @Test func `without the header there is no wait`() {
        #expect(Self.wait(nil) == nil)
    }
}
