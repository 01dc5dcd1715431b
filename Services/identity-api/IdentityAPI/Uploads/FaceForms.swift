internal import WireFormat

/// The form of a sign-up.
struct SignUpForm: FormBody {
    static let schema = UploadForm.signUp.schema(with: [
        (UploadForm.recovery, .one(of: ["true", "false"])), (ConsentRequirement.field, .text),
    ])
    static let maxBytes = UploadLimits().bodyBytes

    let stream: FormStream
}

/// The form of a sign-in.
struct SignInForm: FormBody {
    static let schema = UploadForm.signIn.schema(with: [])
    static let maxBytes = UploadLimits().bodyBytes

    let stream: FormStream
}

extension UploadForm {
    /// The schema of the form, with fields that it does not have in common with other forms.
    fileprivate func schema(with others: [(String, JSONSchema)]) -> JSONSchema {
        // A retake has only the photos that its failed session has named.
        let photos = photoFields.map { ($0.name, JSONSchema.array(of: .file, upTo: $0.count, from: 1)) }
        let email: [(String, JSONSchema)] = [(Self.email, .text)]
        let texts = [(Self.pushToken, .text)] + others + [(ChallengeGate.field, .text), (Self.retakeOf, .uuid)]
        let optional = photos + texts + (event == .signIn ? [] : email)
        return .object(event == .signIn ? email : [], optional: optional)
            .described(
                "Exactly three photos of each field, or with `retake_of` the named photos of the failed session. Fields and files of "
                    + "other names are ignored, and not stored")
    }
}
