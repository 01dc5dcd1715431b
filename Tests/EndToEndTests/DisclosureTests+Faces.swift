import Accounts
import FaceEngine
import Foundation
import HeliographCrypto
import TestSupport
import Testing

/// Sign-ups with an e-mail that is not proven, whose face another account has or has not.
extension DisclosureTests {
    /// More made-up faces than a search opens.
    private static let bystanders = 40

    /// Both policies look for the face in the same way, so times are compared with the one alone that has more to hide.
    @Test(arguments: samples == nil ? ["review", "refuse"] : ["refuse"])
    func `a sign-up looks the same for known and unknown faces`(policy: String) async throws {
        let stack = try await Self.stack(["FACE_DUPLICATES": policy])
        let keys = try KeyRings(of: stack)
        let owner = try await Phone.make(stack).enrol(email: Self.newEmail()).userID
        let ownerID = try #require(UUID(uuidString: owner))
        let known = try await stack.database.psql("SELECT encode(template_sealed, 'hex') FROM face_templates WHERE user_id = '\(owner)'")
        for _ in 0..<Self.bystanders {
            let id = UUID()
            try await stack.database.psql(
                """
                INSERT INTO users (id) VALUES ('\(id)');
                INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
                SELECT '\(id)', model_id, pipeline_version, '\\x\(try Self.madeUpFace(of: id, keys))' FROM face_templates
                WHERE user_id = '\(owner)'
                """)
        }
        // Either way the next look has one change to read.
        try await compare(on: stack) { isKnown in
            let face = try isKnown ? known : Self.madeUpFace(of: ownerID, keys)
            try await stack.database.psql(
                "UPDATE face_templates SET template_sealed = '\\x\(face)', updated_at = now() WHERE user_id = '\(owner)'")
        } _: { phone, _, _ in
            try await phone.signUp(email: Self.newEmail())
        }
        let found = try await stack.database.psql("SELECT count(*) FROM audit_log WHERE action = 'face_duplicate_found'")
        #expect(found == "\(Self.samples ?? 3)", "the face is found where it is known, and there alone")
    }

    /// Returns a sealed face that is unlike any other.
    private static func madeUpFace(of user: UUID, _ keys: KeyRings) throws -> String {
        let face = FaceDescriptor(normalising: (0..<FaceDescriptor.count).map { _ in Float.random(in: -1...1) })
        let template = EnrolledFace(left: [face], right: [face], front: [face], isMirrored: false)
        return Hex.encode(try keys.seal(template.encoded(), for: .faces, context: SealingContext.faceTemplate(userID: user)))
    }
}
