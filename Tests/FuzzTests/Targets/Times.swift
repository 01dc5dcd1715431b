import Foundation

@testable import IdentityAPI

extension FuzzTarget {
    /// A time of a request.
    static let times = FuzzTarget(name: "times") { bytes in
        let text = FuzzInput(bytes).text
        guard let time = try? Timestamp(text).date else { return }
        for remainder in ["0", "Z", " ", "x", "[UTC]"] {
            try require((try? Timestamp(text + remainder + "_")) == nil, "something behind a time")
        }
        // Foundation changes the calendar in 1582.
        guard text.utf8.count == 20, text.hasSuffix("Z"), !text.hasPrefix("0"), text >= "1600", text.contains("T") else { return }
        try requireEqual(time.formatted(.iso8601), text, "the time that is written")
        try requireEqual(try Date(text, strategy: .iso8601), time, "the time and Foundation's")
    }
}
