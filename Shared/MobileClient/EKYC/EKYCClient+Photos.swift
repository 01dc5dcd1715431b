public import Foundation

extension EKYCClient {
    /// A photo of a face: JPEG, PNG, WebP or HEIC, at most 10 MB.
    public enum Photo: Sendable, Hashable {
        case data(Data)
        /// A file, which must not change before the call that it is given to has returned. It is copied, and stays where it is.
        case file(URL)
    }

    /// The photos of a sign-up: exactly three of each side, each of another moment.
    public struct SignUpPhotos: Sendable, Hashable {
        public var left: [Photo]
        public var right: [Photo]
        public var front: [Photo]

        public init(left: [Photo], right: [Photo], front: [Photo]) {
            self.left = left
            self.right = right
            self.front = front
        }
    }

    /// Who signs up.
    public enum Owner: Sendable, Hashable {
        /// The account that is signed in, whose face is replaced. Needs a sign-in of the last five minutes.
        case account
        /// A person with an e-mail address that is not proven: the face has no effect before the code that is mailed is entered.
        case email(String)
        /// A person who has proven an e-mail address by ``AccountClient/verify(_:code:)``, within the last 15 minutes.
        ///
        /// - Parameters:
        ///   - token: The enrolment token.
        ///   - isRecovery: Whether the face is to replace that of the account of the address, after 24 hours.
        case enrolment(token: String, isRecovery: Bool = false)
    }
}

extension EKYCClient.Photo {
    /// The part of the form, after a check of the photo.
    ///
    /// - Throws: `invalid_argument` with the field for a photo that the API would refuse; `storage` for a file that cannot be read.
    func part(of field: String, _ number: Int) throws(HeliographError) -> MultipartFileWriter.Part {
        let format: PictureFormat
        let content: MultipartFileWriter.Part.Content
        switch self {
        case .data(let data): (format, content) = (try PhotoFile.format(of: data, field: field), .data(data))
        case .file(let url): (format, content) = (try PhotoFile.format(of: url, field: field), .file(url))
        }
        return MultipartFileWriter.Part(field, fileName: "\(number).\(format.fileExtension)", contentType: format.mediaType, content)
    }
}
