internal import CommandLineSupport
internal import FaceEngine
internal import Foundation
internal import Imaging

/// The photos of a folder, analysed as those of a sign-in: a folder for each person, with the photos of that person in it.
struct CalibrationPhotos: Sendable {
    /// A person with the usable photos, in the order of the names of their files.
    struct Person: Sendable {
        let name: String
        let faces: [FaceObservation]
    }

    /// Bytes from which a file is no photo of a phone; it is refused unread.
    private static let maxFileBytes = 32 << 20

    let people: [Person]
    /// The number of photos that were refused, by the reason.
    let refused: [PhotoFault: Int]

    /// Reads and analyses all photos; progress is noted.
    ///
    /// - Throws: An error of the file system, or `FaceEngineError`.
    init(in folder: String, _ pool: FaceEnginePool, _ console: Console) async throws {
        let files = try Self.files(in: folder)
        var (faces, refused, done): ([String: [FaceObservation]], [PhotoFault: Int], Int) = ([:], [:], 0)
        for (person, path) in files {
            let analysis = try await Self.analyse(path, pool)
            switch analysis {
            case .usable(let face): faces[person, default: []].append(face)
            case .rejected(let faults): refused[faults.first, default: 0] += 1
            }
            done += 1
            console.progress?("\(done) of \(files.count) photos")
        }
        console.progress?("")
        people = faces.sorted { $0.key < $1.key }.map { Person(name: $0.key, faces: $0.value) }
        self.refused = refused
    }

    /// Creates a set from observations, for tests.
    init(people: [Person], refused: [PhotoFault: Int] = [:]) {
        self.people = people
        self.refused = refused
    }

    private static func files(in folder: String) throws -> [(person: String, path: String)] {
        let files = FileManager.default
        var found: [(String, String)] = []
        for person in try files.contentsOfDirectory(atPath: folder).sorted() where !person.hasPrefix(".") {
            var isFolder: ObjCBool = false
            let path = folder + "/" + person
            guard files.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else { continue }
            for photo in try files.contentsOfDirectory(atPath: path).sorted() where !photo.hasPrefix(".") {
                found.append((person, path + "/" + photo))
            }
        }
        return found
    }

    private static func analyse(_ path: String, _ pool: FaceEnginePool) async throws -> PhotoAnalysis {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        guard size <= maxFileBytes else { return .rejected(PhotoFaults(.tooLarge)) }
        return try await pool.analyse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))), for: .signIn)
    }
}
