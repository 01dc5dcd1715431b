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

extension RepeatedForm {
    /// The worst pictures for a sign-up, or for a sign-in, by the installation of a phone.
    static func worst(_ pictures: WorstPictures, for phone: Phone, isSignUp: Bool) -> RepeatedForm {
        let placeholder = UUID()
        var form = MultipartForm()
        // The service cannot tell that FCM does not know it.
        form.add("fcm_token", phone.token.dropLast(36) + placeholder.uuidString)
        form.add("email", "junk-\(placeholder.uuidString)@example.org")
        let fields =
            isSignUp
            ? [("left_faces", pictures.left), ("right_faces", pictures.right), ("front_faces", pictures.front)]
            : [("faces", pictures.front)]
        for (field, photos) in fields {
            for photo in photos { form.add(field, file: "photo", WorstPictures.variant(of: photo, placeholder)) }
        }
        return RepeatedForm(form, changing: placeholder)
    }
}
