internal import HTTPTypes

/// The time that a client is ready to wait for the result, by the preference `wait` in `Prefer` (RFC 7240).
struct PreferredWait: Sendable {
    /// Nil without a valid `wait`: an invalid preference is not an error.
    let seconds: Int?

    init(_ headers: HTTPFields) {
        for value in headers[values: .prefer] {
            for preference in value.lowercased().split(whereSeparator: { $0 == "," || $0 == ";" }) {
                let parts = preference.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
                guard parts.count == 2, parts[0] == "wait", let seconds = Int(parts[1]), seconds >= 0 else { continue }
                self.seconds = seconds
                return
            }
        }
        seconds = nil
    }
}
