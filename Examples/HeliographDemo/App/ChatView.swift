import MobileClient
import SwiftUI

/// A conversation. The API announces messages and keeps none of their texts; an app has its own way to deliver these.
struct ChatView: View {
    let conversation: String
    @State private var text = ""
    @State private var previews: [String] = []

    var body: some View {
        VStack {
            List(previews, id: \.self, rowContent: Text.init)
            HStack {
                TextField("Message", text: $text)
                Button("Send") { Task { await send() } }
            }
            .padding()
        }
        .task(id: conversation) {
            try? await Demo.client.chat.enter(conversation)
            // No push of this conversation is shown while it is on the screen, and soon none is sent.
            try? await Demo.client.chat.setVisible(conversation)
            _ = try? await Demo.client.chat.markRead(conversation)
            for await message in Demo.client.push.messages() {
                guard case .chatMessage(let chat) = message.kind, chat.conversationID == conversation else { continue }
                previews.append(chat.preview ?? "")
                _ = try? await Demo.client.chat.markRead(conversation)
            }
        }
        .onDisappear { Task { try? await Demo.client.chat.setVisible(nil) } }
    }

    private func send() async {
        // Kept until it is sent: with its id it may be sent again.
        let message = ChatClient.Message(text)
        do {
            _ = try await Demo.client.chat.send(message, to: conversation)
            previews.append(text)
            text = ""
        } catch { previews.append("Not sent: \(error)") }
    }
}
