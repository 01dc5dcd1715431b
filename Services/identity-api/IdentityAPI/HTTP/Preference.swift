internal import HTTPTypes

/// Reads the preferences of a client from `Prefer` (RFC 7240).
enum Preference {
    /// The seconds that the client is ready to wait for the result; nil without a valid `wait`: an invalid preference is not an error.
    static func wait(_ headers: HTTPFields) -> Int? {
        for value in headers[values: .prefer] {
            for preference in value.lowercased().split(whereSeparator: { $0 == "," || $0 == ";" }) {
                let parts = preference.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
                guard parts.count == 2, parts[0] == "wait", let seconds = Int(parts[1]), seconds >= 0 else { continue }
                return seconds
            }
        }
        return nil
    }
}
