// SPDX-License-Identifier: GPL-2.0-only
/*
 * This module creates a kernel socket, which holds no reference to its network namespace. The
 * namespace is that of the task that loads the module. The socket sends one datagram to 10.9.0.2,
 * port 6000, and is closed. From then on, only the datagram keeps the socket's memory in use.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <net/sock.h>

static int send_one_datagram(struct socket *sock)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(6000),
		.sin_addr.s_addr = htonl(0x0a090002),
	};
	struct msghdr msg = { .msg_name = &to, .msg_namelen = sizeof(to) };
	struct kvec byte = { .iov_base = "", .iov_len = 1 };
	int sent = kernel_sendmsg(sock, &msg, &byte, 1, 1);

	return sent < 0 ? sent : 0;
}

static int __init ksock_init(void)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(current->nsproxy->net_ns, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	err = send_one_datagram(sock);
	sock_release(sock);
	return err;
}

static void __exit ksock_exit(void)
{
}

module_init(ksock_init);
module_exit(ksock_exit);
MODULE_DESCRIPTION("a socket of the kernel's own, for a test");
MODULE_LICENSE("GPL");
