import MobileClient
import SwiftUI

@main
struct ExampleApp: App {
    @UIApplicationDelegateAdaptor private var delegate: AppDelegate
    @Environment(\.scenePhase) private var phase
    @State private var jobID: String?

    var body: some Scene {
        WindowGroup {
            VStack {
                SignInView(photos: CameraFiles.front)
                PictureView(jobID: jobID)
            }
            .task {
                // From here on taps have a place; the one that has started the app has waited for this.
                Backend.client.push.router.setHandler { opening in await open(opening.route) }
            }
        }
        .onChange(of: phase) { phase in
            Task {
                switch phase {
                case .active: await Backend.client.enterForeground()
                case .background: await Backend.client.enterBackground()
                default: break
                }
            }
        }
    }

    private func open(_ route: NotificationRouter.Route) {
        if case .job(let id) = route { jobID = id }
    }
}

/// Where the camera of the app leaves its photos.
enum CameraFiles {
    static var front: [EKYCClient.Photo] {
        (1...3).map { .file(URL.documentsDirectory.appending(path: "front-\($0).jpg")) }
    }
}
