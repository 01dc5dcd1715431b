import MobileClient
import SwiftUI

struct PictureView: View {
    /// The job that a tap has named.
    let jobID: String?
    @State private var status = ""
    @State private var picture: UIImage?

    var body: some View {
        VStack {
            Button("Make a picture") { Task { await order() } }
            if let picture { Image(uiImage: picture).resizable().scaledToFit() }
            Text(status)
        }
        .task {
            // All orders of this phone, also those of earlier processes.
            for await update in Backend.client.images.updates() { await show(update) }
        }
        .task(id: jobID) {
            if let jobID { await fetch(jobID) }
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

    private func show(_ update: JobUpdate) async {
        switch update.state {
        case .ordering: status = "Uploading…"
        case .active(let progress): status = "\(Int(progress.fraction * 100)) %"
        case .inBackground: status = "We will notify you."
        case .ended(.completed):
            status = ""
            if let id = update.jobID { await fetch(id) }
        case .ended(.failed(let failure)), .ended(.refused(let failure)): status = failure.message
        case .ended(.expired), .ended(.cancelled): status = ""
        }
    }

    private func fetch(_ id: String) async {
        let file = URL.cachesDirectory.appending(path: id)
        do {
            _ = try await Backend.client.images.result(of: id, to: file)
            picture = UIImage(contentsOfFile: file.path)
        } catch { status = error.message }
    }
}
