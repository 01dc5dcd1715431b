import MobileClient
import PhotosUI
import SwiftUI

/// Orders a picture and shows it, whether the app stays open or not.
struct PictureView: View {
    /// The job that a notification has named.
    let jobID: String?
    @State private var choice: PhotosPickerItem?
    @State private var status = ""
    @State private var picture: UIImage?

    var body: some View {
        VStack {
            PhotosPicker("Choose a photo", selection: $choice, matching: .images)
            if let picture { Image(uiImage: picture).resizable().scaledToFit() }
            Text(status)
        }
        .onChange(of: choice) { choice in
            guard let choice else { return }
            Task { await order(choice) }
        }
        .task {
            // All orders of this phone, also those of earlier processes; each tells its end once.
            for await update in Demo.client.images.updates() { await show(update) }
        }
        .task(id: jobID) {
            guard let jobID else { return }
            await fetch(jobID)
        }
    }

    private func order(_ choice: PhotosPickerItem) async {
        do {
            guard let data = try await choice.loadTransferable(type: Data.self) else { return }
            let templates = try await Demo.client.images.templates()
            guard let template = templates.first else { return }
            // Returns when the order is kept on the phone; the upload goes on in the background.
            _ = try await Demo.client.images.process(data, template: template.id)
        } catch { status = "\(error)" }
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
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            _ = try await Demo.client.images.result(of: id, to: file)
            picture = UIImage(contentsOfFile: file.path)?.preparingForDisplay()
        } catch { status = "\(error)" }
    }
}
