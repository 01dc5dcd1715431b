import Foundation
import HTTPClient
import Testing

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777.0, "Sun, 06 Nov 1994 08:49:37 GMT"), (1_369_353_600.0, "Fri, 24 May 2013 00:00:00 GMT"),
        (1_709_164_800.0, "Thu, 29 Feb 2024 00:00:00 GMT"), (1_795_421_105.0, "Mon, 23 Nov 2026 08:05:05 GMT"),
    ])
    func `an instant is written and read`(seconds: Double, text: String) {
        #expect(HTTPDate.string(Date(timeIntervalSince1970: seconds)) == text)
        #expect(HTTPDate.string(Date(timeIntervalSince1970: seconds + 0.9)) == text)
        #expect(HTTPDate.date(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test func `a leap second is the second before`() {
        #expect(HTTPDate.date("Sat, 31 Dec 2016 23:59:60 GMT") == Date(timeIntervalSince1970: 1_483_228_799))
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 25:00:00 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, xx Nov 1994 08:49:37 GMT",
    ])
    func `another form is no date`(text: String) { #expect(HTTPDate.date(text) == nil) }
}
