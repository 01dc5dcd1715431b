internal import Foundation

extension EKYCSession {
    /// A photo that a failed session names as bad, by its place in the upload.
    public struct BadPhoto: Sendable, Hashable, Codable {
        /// The group of photos that it belongs to.
        public let field: Field
        /// Its place among the photos of the group, counted from 0, in the order in which they were given.
        public let index: Int
        /// What is wrong with it.
        public let problems: [Problem]

        /// Names a photo by its place, with its problems.
        public init(_ field: Field, _ index: Int, _ problems: [Problem]) {
            self.field = field
            self.index = index
            self.problems = problems
        }

        /// A group of photos of an upload. A group that this version does not know keeps its text.
        public struct Field: RawRepresentable, Sendable, Hashable, Codable {
            /// The field of the form as the API spells it, such as `left_faces`.
            public let rawValue: String

            /// Creates a group from the text of the API; any text is accepted.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// ``EKYCClient/SignUpPhotos/left``.
            public static let left = Self(rawValue: "left_faces")
            /// ``EKYCClient/SignUpPhotos/right``.
            public static let right = Self(rawValue: "right_faces")
            /// ``EKYCClient/SignUpPhotos/front``.
            public static let front = Self(rawValue: "front_faces")
            /// The photos by which a sign-up answers a challenge: ``EKYCClient/ChallengeAnswer/photos``.
            public static let challenge = Self(rawValue: "challenge_photos")
            /// The photos of a sign-in. With a challenge each shows the pose at its place in ``EKYCClient/Challenge/poses``.
            public static let faces = Self(rawValue: "faces")
        }

        /// What is wrong with a photo. A problem that this version does not know keeps its text.
        public struct Problem: RawRepresentable, Sendable, Hashable, Codable {
            /// The problem as the API spells it, such as `blurred`.
            public let rawValue: String

            /// Creates a problem from the text of the API; any text is accepted.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The photo cannot be decoded: send it again as a smaller JPEG. Another photo of the same kind does not help.
            public static let undecodable = Self(rawValue: "undecodable")
            /// No face is seen: the whole face has to be in the photo.
            public static let noFace = Self(rawValue: "no_face")
            /// There is a second face: the person has to be alone in the photo.
            public static let severalFaces = Self(rawValue: "several_faces")
            /// The face is too small: it has to come nearer to the camera.
            public static let tooSmall = Self(rawValue: "too_small")
            /// A part of the face is beyond the edge of the photo.
            public static let cutOff = Self(rawValue: "cut_off")
            /// The head is tilted: it has to be upright.
            public static let tilted = Self(rawValue: "tilted")
            /// There is too little light on the face.
            public static let tooDark = Self(rawValue: "too_dark")
            /// There is too much light on the face.
            public static let tooBright = Self(rawValue: "too_bright")
            /// The light is behind the person, or the lens is dirty.
            public static let lowContrast = Self(rawValue: "low_contrast")
            /// The phone or the head has moved, or the lens is dirty.
            public static let blurred = Self(rawValue: "blurred")
            /// The camera had too little light.
            public static let noisy = Self(rawValue: "noisy")
            /// The head has to be turned farther to the side of the group.
            public static let turnedTooLittle = Self(rawValue: "turned_too_little")
            /// The head has to be turned less; for ``Field/front`` the person looks into the camera.
            public static let turnedTooFar = Self(rawValue: "turned_too_far")
            /// The head is turned to the other side.
            public static let turnedWrongWay = Self(rawValue: "turned_wrong_way")
            /// It is a copy of an earlier photo of the upload: another one is needed.
            public static let looksLikeAnotherPhoto = Self(rawValue: "looks_like_another_photo")
        }
    }
}

extension EKYCSession.Outcome {
    /// The photos that alone need to be taken again (``EKYCClient/retake(_:of:)``), in the order in which the new ones are given; nil where
    /// another attempt needs all photos, as after ``refused(_:)`` with `retake_unavailable`.
    public var photosToRetake: [EKYCSession.BadPhoto]? {
        guard case .failed(let failure) = self, failure.retakeUntil != nil, !failure.photos.isEmpty else { return nil }
        return failure.photos
    }

    /// Until when the photos can be retaken; nil where another attempt needs all photos.
    var retakeUntil: Date? {
        guard case .failed(let failure) = self, photosToRetake != nil else { return nil }
        return failure.retakeUntil
    }
}
