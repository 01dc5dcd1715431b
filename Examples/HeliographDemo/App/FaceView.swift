import MobileClient
import SwiftUI

/// Signs up with nine photos and in with three. A camera view of the app takes them; here they are files that it has left.
struct FaceView: View {
    @State private var email = ""
    @State private var status = ""
    @State private var code = ""
    /// The session that waits for a mailed code, because this phone is new to the account.
    @State private var awaiting: EKYCSession?
    let photos = CapturedPhotos()

    var body: some View {
        Form {
            TextField("E-mail", text: $email).textContentType(.emailAddress).textInputAutocapitalization(.never)
            Button("Sign up") { Task { await signUp() } }
            Button("Sign in") { Task { await signIn() } }
            Button("Sign out", role: .destructive) { Task { await signOut() } }
            if let awaiting {
                TextField("Code", text: $code)
                Button("Enter the code") { Task { await awaiting.enter(code: code) } }
            }
            Text(status)
        }
        .task {
            // Sessions that an earlier process has left go on by themselves; the app gets their outcomes here.
            for session in (try? await Demo.client.ekyc.pending()) ?? [] { await show(session) }
        }
    }

    private func signUp() async {
        do {
            let consent = try await Demo.client.account.consent()
            await show(try await Demo.client.ekyc.signUp(photos.signUp, email: email, consent: consent?.version))
        } catch { status = "\(error)" }
    }

    private func signIn() async {
        do { await show(try await Demo.client.ekyc.signIn(photos.front, email: email)) } catch { status = "\(error)" }
    }

    private func signOut() async {
        do {
            try await Demo.client.signOut()
            status = "Signed out."
        } catch { status = "You are still signed in. Please try again. (\(error.message))" }
    }

    /// A push, a poll or the next launch ends the session: the app waits for its outcome, which is from the API in any case. It gets the
    /// outcome again after a launch until it has acknowledged it.
    private func show(_ session: EKYCSession) async {
        for await state in session.states {
            awaiting = nil
            switch state {
            case .uploading, .examining, .signingIn: status = "Checking…"
            case .awaitingCode(_, let mailed, let attemptsLeft):
                awaiting = session
                status = "Enter the code beside \(mailed.reference ?? "") in the mail."
                if let attemptsLeft { status += " It was not right: \(attemptsLeft) attempts are left." }
            case .ended(let outcome): show(outcome)
            }
        }
        await session.acknowledge()
    }

    private func show(_ outcome: EKYCSession.Outcome) {
        switch outcome {
        case .enrolled(let code?): status = "Enter the code that was mailed to you, with the reference \(code.reference ?? "")."
        case .enrolled(nil): status = "Your face is registered."
        case .signedIn: status = "Welcome!"
        case .failed(let failure): status = failure.isRetryable ? "Please try again (\(failure.reason.rawValue))." : "Not recognised."
        case .refused(let error): status = error.retryAfter.map { "Please try again in \($0)." } ?? "\(error.code.rawValue)"
        case .expired, .tooLate, .outcomeUnknown: status = "Please try again."
        case .superseded, .signedOut: status = ""
        }
    }
}

/// The files of the camera.
struct CapturedPhotos {
    var front: [EKYCClient.Photo] { (1...3).map { .file(file("front-\($0)")) } }

    var signUp: EKYCClient.SignUpPhotos {
        .init(left: (1...3).map { .file(file("left-\($0)")) }, right: (1...3).map { .file(file("right-\($0)")) }, front: front)
    }

    private func file(_ name: String) -> URL { URL.documentsDirectory.appending(path: "\(name).jpg") }
}
