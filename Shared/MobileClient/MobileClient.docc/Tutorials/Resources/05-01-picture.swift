import MobileClient
import SwiftUI

struct PictureView: View {
    /// The job that a tap has named.
    let jobID: String?
    @State private var status = ""

    var body: some View {
        VStack {
            Button("Make a picture") { Task { await order() } }
            Text(status)
        }
    }

    private func order() async {
        do {
            guard let template = try await Backend.client.images.templates().first else { return }
            let photo = URL.documentsDirectory.appending(path: "front-1.jpg")
            // Returns when the order is kept on the phone; the upload goes on in the background.
            _ = try await Backend.client.images.process(file: photo, template: template.id)
        } catch { status = error.message }
    }
}
