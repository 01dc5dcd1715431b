import MobileClient
import SwiftUI

struct SignInView: View {
    let photos: [EKYCClient.Photo]
    @State private var email = ""
    @State private var status = ""

    var body: some View {
        Form {
            TextField("E-mail", text: $email)
            Button("Sign in") { Task { await signIn() } }
            Text(status)
        }
    }

    private func signIn() async {
        do {
            await show(try await Backend.client.ekyc.signIn(photos, email: email))
        } catch { status = error.message }
    }

    private func show(_ session: EKYCSession) async {
        status = "Checking…"
        switch await session.result() {
        case .signedIn: status = "Welcome!"
        case .failed(let failure): status = failure.isRetryable ? "Please try again." : "Not recognised."
        case .refused(let error): status = error.message
        case .enrolled, .expired, .tooLate, .outcomeUnknown, .superseded, .signedOut: status = ""
        }
        await session.acknowledge()
    }
}
