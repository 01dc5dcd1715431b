import Foundation
import Testing

@testable import MobileClient

@Suite struct WireDateTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0.0), ("2027-01-15T08:00:00Z", 1_800_000_000), ("2027-01-15T08:00:00.5Z", 1_800_000_000.5),
        ("2027-01-15t08:00:00.123456789z", 1_800_000_000.123456789), ("2027-01-15T10:30:00+02:30", 1_800_000_000),
        ("2027-01-15 05:00:00-03:00", 1_800_000_000), ("2024-02-29T00:00:00Z", 1_709_164_800), ("2000-02-29T12:00:00Z", 951_825_600),
        ("2016-12-31T23:59:60Z", 1_483_228_800), ("1969-12-31T23:59:59Z", -1), ("0001-01-01T00:00:00Z", -62_135_596_800),
    ])
    func `an instant is read with and without fractions, in any offset`(text: String, seconds: Double) throws {
        let date = try #require(WireDate.parse(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_001)
    }

    @Test(arguments: [
        "", "2027", "2027-01-15", "2027-01-15T08:00:00", "2027-01-15T08:00Z", "2027-13-01T00:00:00Z", "2027-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2027-01-15T24:00:00Z", "2027-01-15T08:60:00Z", "2027-01-15T08:00:61Z", "2027-01-15T08:00:00.Z",
        "2027-01-15T08:00:00Zx", "2027-01-15T08:00:00+2:00", "2027-01-15T08:00:00+24:00", "-027-01-15T08:00:00Z", "2027-00-15T08:00:00Z",
        "2027-01-00T08:00:00Z", "+027-01-15T08:00:00Z", "2027-01-15T08:00:00 Z", "２０２７-01-15T08:00:00Z",
    ])
    func `any other text is no instant`(text: String) {
        #expect(WireDate.parse(text) == nil)
    }

    @Test func `an instant is written in UTC, with milliseconds where it has some`() {
        #expect(WireDate.text(Date(timeIntervalSince1970: 1_800_000_000)) == "2027-01-15T08:00:00Z")
        #expect(WireDate.text(Date(timeIntervalSince1970: 1_800_000_000.25)) == "2027-01-15T08:00:00.250Z")
        #expect(WireDate.text(Date(timeIntervalSince1970: 1_800_000_000.999_9)) == "2027-01-15T08:00:01Z")
        #expect(WireDate.text(Date(timeIntervalSince1970: -0.5)) == "1969-12-31T23:59:59.500Z")
    }

    @Test func `an instant that RFC 3339 cannot write becomes the first or last that it can`() {
        #expect(WireDate.text(Date(timeIntervalSince1970: .infinity)) == "9999-12-31T23:59:59Z")
        #expect(WireDate.parse(WireDate.text(Date(timeIntervalSince1970: 1e18)))?.timeIntervalSince1970 == 253_402_300_799)
        #expect(WireDate.text(Date(timeIntervalSince1970: .nan)).hasSuffix("Z"))
    }

    @Test func `what is written is read as the same instant`() throws {
        // From 1600 to 4100: before 1582, Foundation writes dates of the Julian calendar.
        for day in stride(from: -135_000, to: 780_000, by: 97) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 12_345.678)
            let again = try #require(WireDate.parse(WireDate.text(date)))
            #expect(abs(again.timeIntervalSince(date)) < 0.001)
        }
    }
}
