import FaceEngine
import Foundation
import TestSupport

/// Searches everything that an installation stores for what belongs to a person: by plaintext, by bytes, and by opening what is sealed.
///
/// Not searched are the write-ahead log, dead rows and planner statistics of Postgres, which it replaces by itself, and what is outside of
/// the installation: the emulator of Google, which has the mails and the pushes that were sent.
struct PersonSearch: Sendable {
    /// A place where a needle was found.
    struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// Such as `table users` or `log of notifier`.
        let place: String
        /// The name of the needle, or why the place could not be searched.
        let what: String

        var description: String { "\(what) in \(place)" }
    }

    let stack: Stack
    let keys: KeyRings
    let finder: NeedleFinder
    /// The person's face; others are compared with it.
    let face: EnrolledFace?

    init(_ needles: [Needle], face: EnrolledFace? = nil, in stack: Stack) throws {
        self.stack = stack
        self.face = face
        keys = try KeyRings(of: stack)
        finder = NeedleFinder(needles)
    }

    /// Returns what is found anywhere.
    func everywhere() async throws -> Set<Finding> {
        var found = try await inTables()
        found.formUnion(try await inSealedValues())
        found.formUnion(try await inRedis())
        found.formUnion(try await inFilesOfRedis())
        found.formUnion(try inBlobs())
        found.formUnion(try inSpool())
        found.formUnion(try inLogs())
        return found.union(inTraces())
    }

    /// Returns the needles that bytes contain, as findings in a place.
    func findings(in bytes: [UInt8], at place: String) -> Set<Finding> {
        Set(finder.names(in: bytes).map { Finding(place: place, what: $0) })
    }

    /// Returns the needles that a text contains, as findings in a place.
    func findings(in text: String, at place: String) -> Set<Finding> { findings(in: Array(text.utf8), at: place) }

    /// Returns the needles that the files below a folder contain, in their names too.
    func findings(below folder: String, at place: (String) -> String) throws -> Set<Finding> {
        var found: Set<Finding> = []
        for name in FileTree.files(below: folder) {
            found.formUnion(findings(in: name, at: "name of \(place(name))"))
            // A file that was deleted since it was listed has nothing any more.
            guard let bytes = FileTree.bytes(of: "\(folder)/\(name)") else { continue }
            found.formUnion(findings(in: bytes, at: place(name)))
        }
        return found
    }
}

extension Set<PersonSearch.Finding> {
    /// The places of the findings.
    var places: Set<String> { Set<String>(map(\.place)) }
}
