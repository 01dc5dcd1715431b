import BlobStore
import Testing

@Suite struct BlobKeyTests {
    @Test(arguments: ["a", "ekyc/0f-A_b.c/12", "a/b/c/d/e/f/g/h", String(repeating: "x", count: 128)])
    func `A valid name is a key`(name: String) throws {
        #expect(try BlobKey(name).name == name)
    }

    @Test(arguments: [
        "", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/..", ".hidden", "a/.partial", "a\\b", "a b", "ä", "a\0", "a\nb",
        "a/b/c/d/e/f/g/h/i", String(repeating: "x", count: 129), "~", "a:b", "%2e%2e",
    ])
    func `An invalid or ambiguous name is refused`(name: String) {
        #expect(throws: BlobStoreError.self) { try BlobKey(name) }
    }
}
