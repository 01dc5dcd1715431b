public import Foundation

extension EKYCClient {
    /// A photo of a face: JPEG, PNG, WebP or HEIC.
    ///
    /// A photo of more than 10 MB, 16 megapixels or 12,000 pixels a side is scaled down before it is sent, to at most 12 megapixels and
    /// 4,096 pixels a side; any other photo is sent unchanged.
    public enum Photo: Sendable, Hashable {
        case data(Data)
        /// A file, which must not change before the call that it is given to has returned. It is copied, and stays where it is.
        case file(URL)
    }

    /// The photos of a sign-up: exactly three of each side, each of another moment.
    public struct SignUpPhotos: Sendable, Hashable {
        /// Three photos with the head turned to the person's own left.
        public var left: [Photo]
        /// Three photos with the head turned to the person's own right.
        public var right: [Photo]
        /// Three photos with the face turned to the camera.
        public var front: [Photo]

        /// Creates the photos of a sign-up; their numbers are checked when the sign-up begins.
        public init(left: [Photo], right: [Photo], front: [Photo]) {
            self.left = left
            self.right = right
            self.front = front
        }
    }

    /// The person or account that signs up.
    public enum Owner: Sendable, Hashable {
        /// The signed-in account; its face is replaced. Needs a sign-in of the last five minutes.
        case account
        /// A person with an e-mail address that is not proven: the face has no effect before the code that is mailed is entered.
        case email(String)
        /// A person who has proven an e-mail address by ``AccountClient/verify(_:code:)``, within the last 15 minutes.
        ///
        /// - Parameters:
        ///   - token: The enrolment token.
        ///   - isRecovery: Whether the face is to replace the face of the address's account after 24 hours.
        case enrolment(token: String, isRecovery: Bool = false)
    }
}

extension EKYCClient.Photo {
    /// The part of the form, after a check of the photo, which is scaled down where it is too large.
    ///
    /// - Throws: As ``OutgoingPhoto/init(_:_:field:scaler:)``.
    func part(
        of field: String, _ number: Int, scaler: (any PhotoScaling)?
    ) async throws(HeliographError) -> MultipartFileWriter.Part {
        let source: PhotoSource =
            switch self {
            case .data(let data): .data(data)
            case .file(let url): .file(url)
            }
        return try await OutgoingPhoto(source, .face, field: field, scaler: scaler).part(field, named: "\(number)")
    }
}
