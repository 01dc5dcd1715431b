internal import Accounts
internal import CommandLineSupport

/// The keys of all rings as text or JSON.
struct KeyReport: Report {
    let rings: [KeyCounts]

    func encode(to encoder: any Encoder) throws {
        let records = rings.flatMap { ring in
            ring.keyIDs.map { keyID -> JSONRecord in
                ["ring": ring.purpose.rawValue, "key_id": keyID, "values": ring.counts[keyID, default: 0], "state": ring.state(of: keyID)]
            }
        }
        try records.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["RING", "KEY", .right("VALUES"), "STATE"])
        for ring in rings {
            for keyID in ring.keyIDs {
                table.add([
                    .init(ring.purpose.rawValue), keyID.isEmpty ? .nothing : .init(keyID), .count(ring.counts[keyID, default: 0]),
                    .init(ring.state(of: keyID)),
                ])
            }
        }
        return table.lines(style)
    }
}
