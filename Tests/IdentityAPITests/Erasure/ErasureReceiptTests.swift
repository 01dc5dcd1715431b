import Accounts
import FoundationEssentials
import HeliographCrypto
import JSON
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct ErasureReceiptTests {
    private let key = Result { try ErasureReceiptKey(lookupKeys: .test([UInt8](repeating: 3, count: 32))) }

    private func receipt() throws -> ErasureReceipt {
        let id = try #require(UUID(uuidString: "0198C0DE-0000-7000-8000-000000000001"))
        return ErasureReceipt(
            issuer: "https://api.example.org", erasureID: id, scope: "account",
            subjectHash: [UInt8](repeating: 0xAB, count: 32), requestedAt: Date(timeIntervalSince1970: 1_764_000_000),
            completedAt: Date(timeIntervalSince1970: 1_764_000_042),
            erased: ["image-worker": ["images": 4, "image_jobs": 2], "face-matching-worker": ["face_templates": 1]])
    }

    @Test func `a receipt says what was erased, in a fixed order`() throws {
        #expect(
            try receipt().claims.text == """
                {"iss":"https://api.example.org","iat":1764000042,"jti":"0198c0de-0000-7000-8000-000000000001",\
                "erasure":{"scope":"account","subject_hash":"\(String(repeating: "ab", count: 32))",\
                "requested_at":"2025-11-24T16:00:00Z","completed_at":"2025-11-24T16:00:42Z",\
                "erased":{"face-matching-worker":{"face_templates":1},"image-worker":{"image_jobs":2,"images":4}}}}
                """)
    }

    @Test func `a signed receipt gives its claims to the key that signed it`() throws {
        let receipt = try receipt()
        let key = try key.get()
        #expect(try key.verifiedClaims(of: receipt.signed(by: key)) == receipt.claims.text)
    }
}
