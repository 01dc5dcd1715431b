import Foundation
import TestSupport

extension PersonSearch {
    /// Searches the bucket of an object store: the names of all objects, the bytes of all their versions, what is sealed in them, and the
    /// uploads that were left open.
    func inBucket(_ bucket: BucketInspector) async throws -> Set<Finding> {
        var found: Set<Finding> = []
        for upload in try await bucket.openUploads() {
            found.insert(Finding(place: "upload \(upload)", what: "an upload that was left open"))
        }
        for version in try await bucket.versions() {
            found.formUnion(findings(in: version.key, at: "name of an object"))
            let bytes = try await bucket.bytes(of: version)
            let folder = version.key.split(separator: "/").first.map(String.init) ?? version.key
            found.formUnion(findings(in: bytes, at: "object of \(folder)"))
            if let plain = keys.openObject(bytes, key: version.key) {
                found.formUnion(findings(in: plain, at: "sealed object of \(folder)"))
            }
        }
        return found
    }
}
