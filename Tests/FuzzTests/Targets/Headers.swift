import Foundation
import HTTPClient
import HTTPTypes
import HeliographTracing

@testable import IdentityAPI

extension FuzzTarget {
    /// A byte that chooses the header, and its value.
    static let headers = FuzzTarget(name: "headers") { bytes in
        var input = FuzzInput(bytes)
        let checks = [
            checkAuthorization, checkIdempotencyKey, checkRange, checkForwardedFor, checkTraceParent, checkIfNoneMatch, checkPrefer,
            checkRetryAfter, checkCacheControl,
        ]
        let check = checks[Int(input.byte()) % checks.count]
        try check(&input)
    }

    private static func fields(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = HTTPFields()
        fields[name] = value
        return fields
    }

    private static func checkAuthorization(_ input: inout FuzzInput) throws {
        guard let token = try? fields(.authorization, input.text).bearer() else { return }
        try require((1...4_096).contains(token.utf8.count) && !token.utf8.contains(0x20), "a bearer of another shape")
        try requireEqual(try fields(.authorization, "bearer \(token)").bearer(), token, "the bearer of a header that is written from it")
    }

    private static func checkIdempotencyKey(_ input: inout FuzzInput) throws {
        guard let key = try? IdempotencyKey.read(fields(.idempotencyKey, input.text)) else { return }
        try require((1...IdempotencyKey.maxLength).contains(key.utf8.count), "the limit of a key")
        try require(key.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the characters of a key")
        try requireEqual(try IdempotencyKey.read(fields(.idempotencyKey, "\"\(key)\"")), key, "the key in quotation marks")
    }

    private static func checkRange(_ input: inout FuzzInput) throws {
        let count = Int(input.byte()) << 8 | Int(input.byte())
        guard case .part(let part) = ByteRange(input.text, of: count) else { return }
        try require(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= count, "a part that the file does not have: \(part)")
        let again = ByteRange("bytes=\(part.lowerBound)-\(part.upperBound - 1)", of: count)
        try requireEqual(again, .part(part), "the range that is written from a part")
    }

    private static func checkForwardedFor(_ input: inout FuzzInput) throws {
        let text = input.text
        if let address = IPAddress(text) {
            try requireEqual(IPAddress(AddressText.text(of: address)), address, "the address that is written from an address")
            try require(AddressBlock(text)?.contains(address) == true, "an address is no block of itself")
        }
        if let block = AddressBlock(text), let address = IPAddress(text.prefix { $0 != "/" }) {
            try require(block.contains(address), "a block without the address it is named after")
        }
        let proxy = IPAddress(high: 0, low: 0xFFFF_0A00_0001)
        let (stranger, block) = (IPAddress(high: 1 << 61, low: 7), AddressBlock("10.0.0.0/8"))
        let addresses = ClientAddresses(trustedProxies: [block].compactMap(\.self))
        try requireEqual(addresses.client(peer: stranger, forwardedFor: [text]).client, stranger, "the word of a proxy that is not trusted")
        try requireEqual(
            addresses.client(peer: proxy, forwardedFor: [text, "2000::7"]).client, stranger,
            "what stands before the first untrusted address")
        let client = addresses.client(peer: proxy, forwardedFor: [text]).client
        try requireEqual(
            addresses.client(peer: proxy, forwardedFor: ["1.2.3.4,\(text)"]).client == client || addresses.isTrusted(client), true,
            "an address that the client put before")
    }

    private static func checkTraceParent(_ input: inout FuzzInput) throws {
        guard let parent = TraceParent(input.text) else { return }
        try requireEqual(TraceParent(parent.description), parent, "the trace parent that is written")
        try require(parent.description.utf8.count == 55, "the length of a trace parent")
    }

    private static func checkIfNoneMatch(_ input: inout FuzzInput) throws {
        let (text, tag) = (input.text, #""5-7""#)
        let isCurrent = fields(.ifNoneMatch, text).hasCurrent(tag)
        try require(!isCurrent || text.contains("*") || text.contains(tag.dropLast()), "a tag that is not in the header")
        try require(fields(.ifNoneMatch, "\(text),\(tag)").hasCurrent("W/\(tag)"), "the tag at the end of a list")
    }

    private static func checkPrefer(_ input: inout FuzzInput) throws {
        guard let seconds = PreferredWait(fields(.prefer, input.text)).seconds else { return }
        try require(seconds >= 0, "a negative wait")
        try requireEqual(PreferredWait(fields(.prefer, "respond-async, wait=\(seconds)")).seconds, seconds, "the wait that is written")
    }

    /// Four bytes of a time, and a value.
    private static func checkRetryAfter(_ input: inout FuzzInput) throws {
        let now = 1_761_559_200
        func wait(_ value: String, max: Int64) -> Duration? {
            HTTPClientResponse(status: 503, headers: [("Retry-After", value)])
                .retryAfter(now: Date(timeIntervalSince1970: Double(now)), max: .seconds(max))
        }
        let time = (0..<4).reduce(0) { value, _ in value << 8 | Int(input.byte()) }
        try requireEqual(wait(httpDate(time), max: .max), .seconds(max(0, time - now)), "the wait until \(httpDate(time))")
        guard let long = wait(input.text, max: .max) else { return }
        try require(long >= .zero, "a negative wait")
        try requireEqual(wait(input.text, max: 60), min(long, .seconds(60)), "the limit of a wait")
    }

    /// The date as the C library writes it.
    private static func httpDate(_ seconds: Int) -> String {
        var (seconds, parts) = (time_t(seconds), tm())
        gmtime_r(&seconds, &parts)
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, "%a, %d %b %Y %H:%M:%S GMT", &parts) }
        }
    }

    private static func checkCacheControl(_ input: inout FuzzInput) throws {
        let headers = [("Age", input.line()), ("Cache-Control", input.text)]
        let lifetime = HTTPClientResponse(status: 200, headers: headers).freshLifetime
        try require(lifetime >= .zero && lifetime <= .seconds(Int32.max), "the lifetime of an answer: \(lifetime)")
    }
}

private enum AddressText {
    /// The 16 bytes as eight groups.
    static func text(of address: IPAddress) -> String {
        [address.high, address.low].flatMap { half in
            stride(from: 48, through: 0, by: -16).map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }
        }.joined(separator: ":")
    }
}
