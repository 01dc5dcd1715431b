import Foundation
import Multipart
import Synchronization
import TestSupport

/// A form that one connection sends again and again, each time with another e-mail, token and other files.
///
/// It is built once: to build 45 MB for each request would occupy the cores that the attacked services run on.
final class RepeatedForm: Sendable {
    let contentType: String
    private let bytes: Mutex<[UInt8]>
    /// The places of the text that is another one in each request.
    private let places: [Int]

    /// Creates a form from one that has a UUID's text at each place that is to change.
    init(_ form: MultipartForm, changing placeholder: UUID) {
        let (bytes, text) = (form.encoded(), Data(placeholder.uuidString.utf8))
        var (places, rest) = ([Int](), Data(bytes)[...])
        while let place = rest.range(of: text) {
            places.append(place.lowerBound)
            rest = rest[place.upperBound...]
        }
        contentType = form.contentType
        self.bytes = Mutex(bytes)
        self.places = places
    }

    /// Returns the body of the next request.
    func next() -> [UInt8] {
        let text = Array(UUID().uuidString.utf8)
        return bytes.withLock { bytes in
            for place in places { bytes.replaceSubrange(place..<(place + text.count), with: text) }
            return bytes
        }
    }
}

extension Phone {
    /// Sends the next request with a form, and returns the status of its answer.
    func send(_ form: RepeatedForm, to path: String) async throws -> Int {
        try await upload(to: path, contentType: form.contentType, form.next()).status
    }
}

extension RepeatedForm {
    /// The worst pictures for a sign-up, or for a sign-in.
    static func worst(_ pictures: WorstPictures, for phone: Phone, isSignUp: Bool) -> RepeatedForm {
        let placeholder = UUID()
        func variants(_ photos: [[UInt8]]) -> [[UInt8]] { photos.map { WorstPictures.variant(of: $0, placeholder) } }
        guard isSignUp else {
            return junk(for: phone, email: email(placeholder), [("faces", variants(pictures.front))], changing: placeholder)
        }
        return signUp(
            for: phone, left: variants(pictures.left), right: variants(pictures.right), front: variants(pictures.front),
            changing: placeholder)
    }

    /// The ordinary photos of a sign-up.
    static func ordinarySignUp(for phone: Phone) throws -> RepeatedForm {
        let placeholder = UUID()
        func variants(_ names: [String]) throws -> [[UInt8]] { try names.map { try Photos.load($0, comment: placeholder.uuidString) } }
        return signUp(
            for: phone, left: try variants(Photos.left), right: try variants(Photos.right), front: try variants(Photos.front),
            changing: placeholder)
    }

    /// The photos of a sign-in to an account.
    static func signIn(email: String, for phone: Phone, faces: [String]) throws -> RepeatedForm {
        let placeholder = UUID()
        let photos = try faces.map { try Photos.load($0, comment: placeholder.uuidString) }
        return junk(for: phone, email: email, [("faces", photos)], changing: placeholder)
    }

    private static func signUp(
        for phone: Phone, left: [[UInt8]], right: [[UInt8]], front: [[UInt8]], changing placeholder: UUID
    ) -> RepeatedForm {
        let fields = [("left_faces", left), ("right_faces", right), ("front_faces", front)]
        return junk(for: phone, email: email(placeholder), fields, changing: placeholder)
    }

    private static func email(_ placeholder: UUID) -> String { "junk-\(placeholder.uuidString)@example.org" }

    private static func junk(
        for phone: Phone, email: String, _ fields: [(name: String, photos: [[UInt8]])], changing placeholder: UUID
    ) -> RepeatedForm {
        var form = MultipartForm()
        // Without the installation's id before its colon, each token is that of another installation. The service cannot tell that FCM does
        // not know it.
        form.add("fcm_token", phone.token.drop { $0 != ":" }.dropFirst().dropLast(36) + placeholder.uuidString)
        form.add("email", email)
        for field in fields {
            for photo in field.photos { form.add(field.name, file: "photo", photo) }
        }
        return RepeatedForm(form, changing: placeholder)
    }
}
