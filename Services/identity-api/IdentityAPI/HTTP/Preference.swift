internal import HTTPTypes

/// What a client would like best, as `Prefer` says it (RFC 7240).
enum Preference {
    /// The seconds that the client is ready to wait for the result itself; nil when it does not say, or nothing that can be
    /// understood: a preference is never an error.
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
